# Thin aliases. Nothing needs `just` to work.

test *args:
    ./test {{args}}

lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked -- -D warnings

fmt:
    cargo fmt --all

demo *args:
    cargo run --release --locked -- demo {{args}}

bench *args:
    cargo run --release --locked -p countersign-bench -- {{args}}
