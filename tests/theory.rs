//! Known answers: the quick selection of `retrystorm validate`, in this very process.

use retrystorm::validate::case::Case;
use retrystorm::validate::{plan, quick, report, run};

#[test]
fn the_quick_selection_agrees_with_theory() {
    let cases: Vec<Case> = Case::all();
    for name in quick::CASES {
        let case = cases.iter().find(|case| case.id == *name).expect(name);
        let finding = run::run(case, 1).expect("nobody interrupts a test");
        assert!(
            finding.passed(),
            "{}",
            report::text(&finding, Default::default(), false)
        );
    }
}

#[test]
fn every_case_becomes_scenarios_without_problems() {
    for case in Case::all() {
        if let Ok(plan) = plan(&case, 1.0) {
            assert!(!plan.experiments.is_empty(), "{}", case.id);
        }
    }
}
