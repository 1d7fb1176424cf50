#!/usr/bin/env bash
# The same trajectories on other machines: runs every shipped model natively, on 64-bit Arm (under qemu-user) and as
# WebAssembly (under Node), and compares each hash with models/trajectories.txt.
#
#   proof/prove.sh              all three
#   proof/prove.sh native       one of: native aarch64 wasm
#
# Needs, beside Rust: for aarch64 the linker aarch64-linux-gnu-gcc with its C library, and qemu-aarch64; for wasm
# Node.js. A target that rustup has (`rustup target add …`) is used as it is; otherwise Debian's rustc-web, cargo-web,
# rust-web-src, rust-web-llvm and lld-19 build the standard library along.
set -euo pipefail
cd "$(dirname "$0")"

golden=../models/trajectories.txt
failed=0

verdict() { # name of the target, file of its lines
  if diff -u "$golden" "$2" > "$2.diff"; then
    printf '%-8s %s models, every trajectory as in models/trajectories.txt\n' "$1" "$(wc -l < "$2")"
  else
    printf '%-8s differs:\n' "$1"
    cat "$2.diff"
    failed=1
  fi
}

build() { # target, further arguments of cargo
  local target=$1; shift
  if rustup target list --installed 2> /dev/null | grep -qx "$target"; then
    cargo build --locked --quiet --release --target "$target" "$@"
  else
    local web_cargo web_rustc linker
    web_cargo=$(dpkg -L cargo-web | grep -m1 '/bin/cargo$')
    web_rustc=$(dpkg -L rustc-web | grep -m1 '/bin/rustc$')
    linker=$(dpkg -L lld-19 | grep -m1 '/bin/wasm-ld$')
    env -u CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS \
      RUSTC="$web_rustc" RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="$linker" \
      "$web_cargo" build --locked --quiet --release --target "$target" --target-dir target/debian \
      -Z build-std=std,panic_abort "$@"
  fi
}

built() { # target, file: the newest of either folder
  find target -path "*/$1/release/$2" -printf '%T@ %p\n' | sort -rn | head -n 1 | cut -d' ' -f2-
}

for target in ${*:-native aarch64 wasm}; do
  mkdir -p target/hashes
  lines=target/hashes/$target.txt
  case $target in
    native)
      cargo run --locked --quiet --release > "$lines"
      ;;
    aarch64)
      export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
      build aarch64-unknown-linux-gnu --bin proof
      qemu-aarch64 -L /usr/aarch64-linux-gnu "$(built aarch64-unknown-linux-gnu proof)" > "$lines"
      ;;
    wasm)
      build wasm32-unknown-unknown --lib
      node wasm.mjs "$(built wasm32-unknown-unknown proof.wasm)" > "$lines.hashes"
      # The module knows hashes; the names are in the same order.
      paste -d' ' "$lines.hashes" <(cut -d' ' -f2 "$golden") > "$lines"
      ;;
    *)
      printf 'unknown target %s: native, aarch64 or wasm\n' "$target" >&2
      exit 2
      ;;
  esac
  verdict "$target" "$lines"
done
exit "$failed"
