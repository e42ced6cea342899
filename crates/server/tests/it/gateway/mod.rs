//! The gateway in front of a bank: hold it, run exactly that, once.

mod story;
