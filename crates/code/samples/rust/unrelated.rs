//! A tiny virtual machine: traits, lifetimes, macros and unsafe code.
#![allow(dead_code)]

use core::{fmt, marker::PhantomData, ops::Index};

macro_rules! opcodes {
    ($($name:ident = $code:literal),+ $(,)?) => {
        #[repr(u8)]
        #[derive(Clone, Copy, PartialEq)]
        pub enum Opcode { $($name = $code),+ }
    };
}

opcodes! { Push = 0x01, Add = 0x02, Jump = 0x10, Halt = 0xff }

pub trait Memory: Index<usize, Output = u8> {
    type Error: fmt::Display;
    fn store(&mut self, at: usize, byte: u8) -> Result<(), Self::Error>;
    fn size(&self) -> usize;
}

pub struct Machine<'m, M: Memory + ?Sized, const DEPTH: usize = 16> {
    memory: &'m mut M,
    stack: [i64; DEPTH],
    top: usize,
    _marker: PhantomData<*const u8>,
}

impl<'m, M, const DEPTH: usize> Machine<'m, M, DEPTH>
where
    M: Memory + ?Sized,
    M::Error: fmt::Debug,
{
    pub const fn depth() -> usize {
        DEPTH
    }

    fn pop(&mut self) -> Option<i64> {
        self.top = self.top.checked_sub(1)?;
        Some(*unsafe { self.stack.get_unchecked(self.top) })
    }

    pub fn run(&mut self, mut counter: usize) -> Result<i64, Box<dyn fmt::Display + 'm>> {
        'cycle: loop {
            let code = self.memory[counter];
            counter = counter.wrapping_add(1);
            match code {
                0x01..=0x01 => {
                    self.stack[self.top] = i64::from(self.memory[counter]);
                    self.top += 1;
                    counter += 1;
                }
                c if c == Opcode::Add as u8 => {
                    let (Some(a), Some(b)) = (self.pop(), self.pop()) else { break 'cycle };
                    self.stack[self.top] = a ^ b & !1;
                    self.top += 1;
                }
                0x10 => counter = usize::from(self.memory[counter] << 4 | 0b1010),
                0xff => return self.pop().ok_or_else(|| Box::new("empty") as _),
                b'a' | b'z' => continue 'cycle,
                other => return Err(Box::new(format!(r#"bad "code" {other:#04x}"#))),
            }
        }
        Err(Box::new('!'))
    }
}

async fn later<F>(work: F) -> impl Send
where
    F: FnOnce() -> u32 + Send + 'static,
{
    let answer = async move { work() }.await;
    static mut CALLS: u32 = 0;
    unsafe { CALLS += 1 };
    answer
}
