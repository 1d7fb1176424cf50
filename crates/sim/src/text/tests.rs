//! Readers on the files people have, and on files nobody should have.

use hdrhistogram::Histogram;
use proptest::prelude::*;
use seawall::{Span, Time};

use super::*;
use crate::arrivals::{Arrivals, Process};
use crate::law::Law;
use crate::rng::{Purpose, Stream};

const MILLISECOND: Span = Span::millis(1);
const SECOND: Span = Span::secs(1);

macro_rules! data {
    ($name:literal) => {
        include_str!(concat!("../../tests/data/", $name))
    };
}

fn lines<T: fmt::Debug>(result: Result<T, Vec<Problem>>) -> Vec<String> {
    result.unwrap_err().iter().map(Problem::to_string).collect()
}

#[test]
fn percentile_tables_of_hdrhistogram_are_read() {
    let rows = hgrm::read(data!("example1.hgrm"), MILLISECOND).unwrap();
    assert_eq!(rows[0], (0.0, Span::micros(16)));
    assert!(rows.contains(&(0.5, Span::micros(11_167))));
    assert_eq!(rows[rows.len() - 1], (1.0, Span::micros(9_428_991)));
    let law = Law::empirical(&rows).unwrap();
    assert_eq!(law.quantile(0.5), Span::micros(11_167));
    // Its footer says mean 25.048 and standard deviation 120.097; lines between rows overshoot.
    let mean = law.mean().unwrap() * 1e3;
    assert!((mean / 25.048 - 1.0).abs() < 0.02, "{mean}");
    let sd = law.variance().unwrap().sqrt() * 1e3;
    assert!((sd / 120.097 - 1.0).abs() < 0.05, "{sd}");
    let seconds = hgrm::read(data!("example2.hgrm"), SECOND).unwrap();
    assert_eq!(seconds[0], (0.0, Span::millis(17)));
}

#[test]
fn headings_separators_and_columns_of_percentile_tables_may_differ() {
    let expected = [
        (0.0, Span::millis(1)),
        (0.5, Span::millis(2)),
        (1.0, Span::millis(40)),
    ];
    for text in [
        "0.001 0\n0.002 0.5\n0.040 1",
        "\"Value\",\"Percentile\",\"TotalCount\",\"1/(1-Percentile)\"\n0.001,0.0,1,1.00\n0.002,0.5,5,2.00\n0.040,1.0,10,Infinity\n",
        "  Detailed Percentile spectrum:\r\n  Latency Percentile\r\n\r\n .001 0.000000 1 1.00\r\n +0.002 .5 5 2.00\r\n 40e-3 1.000000 10 inf\r\n#[Mean = 1]\r\n",
    ] {
        assert_eq!(hgrm::read(text, SECOND).unwrap(), expected, "{text}");
    }
}

#[test]
fn every_wrong_row_of_a_percentile_table_is_named() {
    let text =
        "Value Percentile\n\n1.0 0.1\n2.0\n-1 0.2\n3.0 20\n0.5 0.3\n2.0 0.05\nx 0.9\n4 inf\n5 1\n";
    assert_eq!(
        lines(hgrm::read(text, MILLISECOND)),
        [
            "4: expected a value and a percentile, not \"2.0\"",
            "5: a value must be 0 or above, not -1",
            "6: a percentile must be a share from 0 to 1, not 20",
            "7: the value falls from 1ms to 500us; rows must ascend",
            "8: percentile 0.05 stands after 0.1; rows must ascend",
            "9: expected a number, not \"x\"",
            "10: a percentile must be a share from 0 to 1, not inf",
        ]
    );
    assert_eq!(
        lines(hgrm::read("Value Percentile\n#[Mean = 1]\n", MILLISECOND)),
        ["1: there is no row of numbers in this percentile table"]
    );
}

#[test]
fn a_written_percentile_table_reads_back_as_the_histogram() {
    let mut histogram = Histogram::<u64>::new(3).unwrap();
    let law = Law::lognormal_p50_p99(Span::millis(2), Span::millis(150)).unwrap();
    let mut stream = Stream::new(5, Purpose::Work, "hgrm");
    for _ in 0..20_000 {
        histogram.record(law.sample(&mut stream).0).unwrap();
    }
    let text = hgrm::write(&histogram, Span(1));
    let rows = hgrm::read(&text, MILLISECOND).unwrap();
    assert!(rows.len() > 60, "{}", rows.len());
    for &(quantile, length) in &rows[1..] {
        // The same bucket, reached by two ways of rounding quantile × count.
        let near = [quantile - 1e-9, quantile, (quantile + 1e-9).min(1.0)]
            .map(|q| histogram.value_at_quantile(q));
        assert!(
            near.contains(&length.0),
            "{quantile}: {length} but {near:?}"
        );
    }
    assert_eq!(rows[0].1.0, histogram.highest_equivalent(histogram.min()));
    assert_eq!(rows[rows.len() - 1], (1.0, Span(histogram.max())));
}

#[test]
fn a_written_percentile_table_has_the_standard_layout() {
    let mut histogram = Histogram::<u64>::new(3).unwrap();
    for micros in 1..=10 {
        histogram.record(micros).unwrap();
    }
    let expected = "          Value     Percentile TotalCount 1/(1-Percentile)

       0.001000 0.000000000000          1           1.00
       0.001000 0.100000000000          1           1.11
       0.002000 0.200000000000          2           1.25
       0.003000 0.300000000000          3           1.43
       0.004000 0.400000000000          4           1.67
       0.005000 0.500000000000          5           2.00
       0.006000 0.550000000000          6           2.22
       0.006000 0.600000000000          6           2.50
       0.007000 0.650000000000          7           2.86
       0.007000 0.700000000000          7           3.33
       0.008000 0.750000000000          8           4.00
       0.008000 0.775000000000          8           4.44
       0.008000 0.800000000000          8           5.00
       0.009000 0.825000000000          9           5.71
       0.009000 0.850000000000          9           6.67
       0.009000 0.875000000000          9           8.00
       0.009000 0.887500000000          9           8.89
       0.009000 0.900000000000          9          10.00
       0.010000 0.912500000000         10          11.43
       0.010000 1.000000000000         10            inf
#[Mean    =        0.005500, StdDeviation   =        0.002872]
#[Max     =        0.010000, Total count    =              10]
#[Buckets =               1, SubBuckets     =            2048]
";
    assert_eq!(hgrm::write(&histogram, Span::micros(1)), expected);
    let empty = hgrm::write(&Histogram::<u64>::new(3).unwrap(), Span(1));
    assert!(
        empty.contains("Total count    =               0]"),
        "{empty}"
    );
    assert!(hgrm::read(&empty, MILLISECOND).is_err());
}

#[test]
fn the_azure_trace_is_read_from_its_first_arrival_on() {
    let text = data!("AzureLLMInferenceTrace_conv-first200.csv");
    let instants = instants::read(text, None, SECOND).unwrap();
    assert_eq!(instants.len(), 200);
    assert_eq!(instants[..3], [0, 4_314_579_000, 4_541_877_000].map(Time));
    assert!(instants.is_sorted());
    assert_eq!(
        instants::read(text, Some("TIMESTAMP"), SECOND).unwrap(),
        instants
    );
    // Numbers of tokens are numbers, so as a column of times they count as such.
    assert!(instants::read(text, Some("ContextTokens"), SECOND).is_ok());
}

#[test]
fn plain_times_need_no_heading_and_no_order() {
    let expected = [0, 1_500_000_000, 3_000_000_000].map(Time);
    for text in [
        "1700000003\n1700000000\n1700000001.5\n",
        "# remark\nseconds\n10\n\n13\n11.5",
        "\u{feff}a,b\r\n-1,x\r\n0.5,y\r\n2,z\r\n",
        "\"2023-11-16T00:00:00Z\"\n2023-11-16T00:00:01.5Z\n2023-11-16T00:00:03Z\n",
    ] {
        assert_eq!(
            instants::read(text, None, SECOND).unwrap(),
            expected,
            "{text}"
        );
    }
    let millis = instants::read("id,at\n1,20\n2,21\n", Some("at"), MILLISECOND).unwrap();
    assert_eq!(millis, [0, 1_000_000].map(Time));
}

#[test]
fn every_wrong_row_of_a_trace_is_named() {
    let text = "at,id\n1,a\n,b\n\n# so\nsoon,c\n2023-11-16 00:00:00,d\n2,e\n";
    for text in [text.to_owned(), text.replace('\n', "\r\n")] {
        assert_eq!(
            lines(instants::read(&text, None, SECOND)),
            [
                "3: expected a date with time or a number, not \"\"",
                "6: expected a date with time or a number, not \"soon\"",
                "7: this is a date, the rows above have a number",
            ]
        );
    }
    assert_eq!(
        lines(instants::read("at,id\n1,a\n", Some("time"), SECOND)),
        ["1: no column \"time\" among \"at\", \"id\""]
    );
    for nothing in ["", "\n\n", "at\n", "# 1\n"] {
        assert_eq!(
            lines(instants::read(nothing, None, SECOND)),
            ["1: there is no arrival in this file"]
        );
    }
    assert_eq!(
        lines(instants::read("0\n18446744074\n", None, SECOND)),
        ["1: the arrivals span more than 584 years; is the unit of time right?"]
    );
}

#[test]
fn a_file_of_another_kind_does_not_flood() {
    let text = "0\n".to_owned() + &"what?\n".repeat(1000);
    let problems = lines(instants::read(&text, None, SECOND));
    assert_eq!(problems.len(), 51);
    assert_eq!(
        problems[49],
        "51: expected a date with time or a number, not \"what?\""
    );
    assert_eq!(problems[50], "51: 950 further problems after this line");
    let long = format!("0\n{}\n", "é".repeat(100));
    assert!(lines(instants::read(&long, None, SECOND))[0].ends_with("é…\""));
}

#[test]
fn the_limbo_file_is_read_as_bins_of_a_second() {
    let rates = rates::read(data!("misim-paper_limbo.csv"), SECOND).unwrap();
    assert_eq!(rates.bins[0], (Time::ZERO, 4.338_700_042_922_516));
    assert_eq!(rates.bins[1], (Time(1_000_000_000), 2.706_196_585_265_987));
    assert_eq!(rates.end, Time(rates.bins.len() as u64 * 1_000_000_000));
    let sum: f64 = rates.bins.iter().map(|(_, rate)| rate).sum();
    let profile = rates.profile(false).unwrap();
    let arrivals = Arrivals::Profile {
        profile,
        process: Process::Poisson,
    };
    let expected = arrivals.expected(Time::ZERO, Time::MAX);
    assert!(
        (expected / sum - 1.0).abs() < 1e-12,
        "{expected}, not {sum}"
    );
}

#[test]
fn rates_hold_until_the_next_row_and_the_last_as_long_as_the_one_before() {
    let rates = rates::read("time,rate\n100,5\n160,0\n# so\n170,7.5\n", SECOND).unwrap();
    assert_eq!(
        rates.bins,
        [
            (Time(0), 5.0),
            (Time(60_000_000_000), 0.0),
            (Time(70_000_000_000), 7.5)
        ]
    );
    assert_eq!(rates.end, Time(80_000_000_000));
    let dated = "2023-11-16 00:00:00,1\n2023-11-16 00:01:00,2\n";
    assert_eq!(
        rates::read(dated, SECOND).unwrap().end,
        Time(120_000_000_000)
    );
}

#[test]
fn every_wrong_row_of_rates_is_named() {
    let text = "time,rate\n1,5\n1,6\n2,-1\n3\nx,1\n2023-11-16 00:00:00,1\n4,inf\n5,1\n";
    assert_eq!(
        lines(rates::read(text, SECOND)),
        [
            "3: the time must be later than in line 2",
            "4: expected a rate of 0 or above in the second column, not \"-1\"",
            "5: expected a rate of 0 or above in the second column, not \"\"",
            "6: expected a date with time or a number, not \"x\"",
            "7: this is a date, the row above has a number",
            "8: expected a rate of 0 or above in the second column, not \"inf\"",
        ]
    );
    for few in ["", "time,rate\n", "0,1\n"] {
        assert_eq!(
            lines(rates::read(few, SECOND)),
            ["1: rates need at least two rows, to know how long each holds"]
        );
    }
    assert_eq!(
        lines(rates::read("0,1\n1e10,1\n", SECOND)),
        ["1: the rates span more than 584 years; is the unit of time right?"]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_a_reader_panic(
        text in prop_oneof![any::<String>(), "([0-9eE.+:TZ,\"# \t\r\n-]|inf|nan|é|\u{feff}){0,200}"],
        unit in any::<u64>(),
    ) {
        let count = text.lines().count().max(1) as u64 + 1;
        let mut problems = Vec::new();
        problems.extend(hgrm::read(&text, Span(unit)).err().unwrap_or_default());
        problems.extend(instants::read(&text, None, Span(unit)).err().unwrap_or_default());
        problems.extend(instants::read(&text, Some("1"), Span(unit)).err().unwrap_or_default());
        problems.extend(rates::read(&text, Span(unit)).err().unwrap_or_default());
        for problem in problems {
            prop_assert!((1..=count).contains(&problem.line), "{problem} of {count} lines");
        }
    }

    #[test]
    fn written_histograms_always_read_back(values in proptest::collection::vec(0..u64::MAX / 4, 1..50)) {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        for value in values {
            histogram.record(value).unwrap();
        }
        let rows = hgrm::read(&hgrm::write(&histogram, Span(1)), MILLISECOND).unwrap();
        prop_assert!(Law::empirical(&rows).is_ok());
    }
}
