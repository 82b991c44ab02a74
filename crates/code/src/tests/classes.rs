//! Names before a list, names of types and other names differ; an import line is one token with its target.

use super::{lex, read};
use crate::{lexed, CodeLanguage, TokenKind};
use lookalike_core::hash::identity::token_value;

fn find(name: &str) -> &'static CodeLanguage {
    crate::language(name).expect("it is in the list")
}

/// The tokens of a text, read by its grammar and by the lexer alone, which must agree.
fn both(name: &str, text: &str) -> Vec<u64> {
    let tokens = read(find(name), text).tokens;
    assert_eq!(tokens, lex(find(name), text).tokens, "{name}: {text}");
    tokens
}

/// Each name of a text with the first letter of its class: call, type or name.
fn classes(name: &str, text: &str) -> String {
    let language = find(name);
    let values = ["call", "type", "name"].map(|class| language.value(&format!("\u{1}{class}")));
    let told = |code: crate::CodeTokens| {
        let names = code.tokens.iter().zip(&code.spans).zip(&code.kinds);
        let names = names.filter(|(_, kind)| matches!(kind, TokenKind::Name | TokenKind::Type));
        let each = names.map(|((value, span), _)| {
            let class = values.iter().position(|known| known == value).expect("a name has one of three classes");
            format!("{}:{}", &text[span.start as usize..span.end as usize], &"ctn"[class..=class])
        });
        each.collect::<Vec<String>>().join(" ")
    };
    let parsed = told(read(language, text));
    assert_eq!(parsed, told(lex(language, text)), "{name}: {text}");
    parsed
}

#[test]
fn names_have_three_classes() {
    for (name, text, expected) in [
        ("java", "class A { int f(Pair p) { return g(p.x); } }", "A:n int:t f:c Pair:t p:n g:c p:n x:n"),
        (
            "java",
            "class A { List<String> a; Map<K, List<V>> b; Foo[] c; }",
            "A:n List:t String:n a:n Map:t K:n List:n V:n b:n Foo:t c:n",
        ),
        ("java", "class A { boolean f() { return a < b && c > d; } }", "A:n boolean:t f:c a:n b:n c:n d:n"),
        ("java", "class A { List<?>[][] f; Map.Entry<K,V> e; }", "A:n List:t f:n Map:n Entry:t K:n V:n e:n"),
        ("c", "unsigned long x = (int) y; struct foo *p;", "unsigned:t long:t x:n int:t y:n foo:n p:n"),
        (
            "cpp",
            "std::vector<int> v(n); vector<pair<int, int>> w;",
            "std:n vector:t int:t v:c n:n vector:t pair:n int:t int:t w:n",
        ),
        ("python", "x = y\nz(1)\nw\n(2)", "x:n y:n z:c w:n"),
        ("go", "package p\n\nvar x int\nvar y = a\nvar z = b\n", "x:t int:n y:n a:n z:n b:n"),
        ("rust", "fn f(x: u8) -> Vec<u8> { g(x) }", "f:c x:n u8:t Vec:n u8:t g:c x:n"),
        ("php", "<?php function f(int $a) { return g($a); }", "f:c int:t $a:n g:c $a:n"),
        (
            "csharp",
            "class A { decimal x; Task<int> f(object o) { g(o); } }",
            "A:n decimal:t x:n Task:t int:t f:c object:t o:n g:c o:n",
        ),
    ] {
        assert_eq!(classes(name, text), expected, "{name}: {text}");
    }
}

#[test]
fn layout_and_comments_do_not_change_a_class() {
    let plain = both("java", "class A { Foo x; List<Foo> y; int z = f(1); }");
    for text in [
        "class A { Foo\nx; List <\n Foo > y; int z = f\n(1); }",
        "class A { Foo /* a */ x; List<Foo>/* b */y; int z = f /* c */ (1); } // d",
    ] {
        assert_eq!(both("java", text), plain, "{text}");
    }
    assert_eq!(classes("python", "x = f \\\n  (1)\n"), "x:n f:c");
    assert_eq!(classes("python", "x = f  # why\ny = g\n"), "x:n f:n y:n g:n");
}

#[test]
fn a_declaration_is_not_a_call() {
    let fields = both("java", "class P { char type; int L; int R; P(char type, int L, int R) { } }");
    let calls = both("java", "class P { void m() { Arrays.sort(b); Arrays.sort(c); Arrays.sort(d); } }");
    let runs: Vec<&[u64]> = fields.windows(5).collect();
    assert!(calls.windows(5).all(|run| !runs.contains(&run)));
}

#[test]
fn an_import_is_one_token_with_its_target() {
    let value = |family: &str, class: &str| token_value(format!("{family}\0\u{1}import:{class}").as_bytes());
    for (name, family, text, expected) in [
        ("c", "c-family", "#include <vector>\n", "#include<vector>"),
        ("c", "c-family", "#  include  \"a b.h\" // why\n", "#include\"a b.h\""),
        ("cpp", "c-family", "using namespace std;", "using namespace std"),
        ("cpp", "c-family", "using std::cout;", "using std::cout"),
        ("cpp", "c-family", "using ll = long long;", "using long long"),
        ("java", "java", "package a.b;", "package a.b"),
        ("java", "java", "import java.util.*;", "import java.util.*"),
        ("java", "java", "import static a . b\n. C.d ;", "import static a.b.C.d"),
        ("csharp", "csharp", "using System.Linq;", "using System.Linq"),
        ("csharp", "csharp", "using static System.Math;", "using static System.Math"),
        ("csharp", "csharp", "using M = System.Math;", "using System.Math"),
        ("python", "python", "import numpy as np\n", "import numpy"),
        ("python", "python", "import numpy\n", "import numpy"),
        ("python", "python", "from x import (\n  y,\n  z as w,\n)\n", "from x import y,z"),
        ("python", "python", "from x import y, z\n", "from x import y,z"),
        ("python", "python", "from . import y\n", "from.import y"),
        ("javascript", "ecmascript", "import React, { a as b, c } from 'react';", "import,{a,c}'react'"),
        ("javascript", "ecmascript", "import 'x'\n", "import'x'"),
        ("typescript", "ecmascript", "import * as fs from \"fs\";", "import*\"fs\""),
        ("tsx", "ecmascript", "import x from 'y'\n", "import'y'"),
        ("kotlin", "kotlin", "import java.io.File as F\n", "import java.io.File"),
        ("scala", "scala", "import a.{b, c => d}\n", "import a.{b,c}"),
        ("swift", "swift", "import struct Foundation.Date\n", "import struct Foundation.Date"),
        ("rust", "rust", "use std::io::{self, BufRead as B};", "use std::io::{self,BufRead}"),
        ("php", "php", "<?php\nuse A\\B as C;", "use A\\B"),
        ("php", "php", "<?php require_once 'a.php';", "require_once'a.php'"),
        ("go", "go", "package main\n", "package main"),
    ] {
        let tokens = both(name, text);
        assert_eq!(tokens.last(), Some(&value(family, expected)), "{name}: {text}");
        assert_eq!(tokens.len(), 1 + usize::from(name == "php"), "{name}: {text}");
    }
    assert_ne!(both("c", "#include <vector>\n"), both("c", "#include <numeric>\n"));
}

#[test]
fn a_block_of_go_is_one_token_for_each_path() {
    let block =
        both("go", "package main\n\nimport (\n\t\"fmt\"\n\tm \"math\" // why\n\n\t_ \"os\"\n)\n\nfunc f() {}\n");
    let lines = both("go", "package main\nimport \"fmt\"\nimport \"math\"\nimport \"os\"\nfunc f() {}\n");
    assert_eq!(block, lines);
    assert_eq!(block.len(), 4 + 4);
}

#[test]
fn a_block_of_go_that_is_none_adds_no_path() {
    let (block, rest) = ("import (\n\t\"fmt\" ", "% \"os\"\n)\n");
    let code = lex(find("go"), &format!("{block}{rest}"));
    assert!(code.spans.windows(2).all(|pair| pair[0].end <= pair[1].start), "{:?}", code.spans);
    assert!(!code.kinds.contains(&TokenKind::Import), "{:?}", code.kinds);
}

#[test]
fn what_only_looks_like_an_import_is_none() {
    for (name, text) in [
        ("csharp", "class A { void f() { using (var file = open(x)) { } } }"),
        ("csharp", "class A { void f() { using Foo x = new Foo(y); } }"),
        ("javascript", "const x = import('y');\n"),
        ("javascript", "import('y').then(f);\n"),
        ("python", "def f():\n    yield from items\n"),
        ("php", "<?php $f = function () use ($x) { return $x; };"),
        ("ruby", "require 'set'\n"),
        ("lua", "local x = require 'y'\n"),
        ("r", "library(stats)\n"),
        ("bash", "source x\n"),
        ("sql", "SELECT a FROM b;"),
    ] {
        let kinds = [read(find(name), text).kinds, lex(find(name), text).kinds];
        assert!(kinds.iter().flatten().all(|kind| *kind != TokenKind::Import), "{name}: {text}");
    }
}

#[test]
fn a_broken_import_does_not_swallow_what_follows() {
    for (name, text, rest) in [
        ("java", "import a.b\nclass A { int x; }", "class A { int x; }"),
        ("java", "import a.b\nimport c.d;\nclass A { int x; }", "class A { int x; }"),
        ("python", "from x import (a,\n  b\ndef f(y):\n    return y\n", "def f(y):\n    return y\n"),
        ("rust", "use a::{b, c;\nfn f() { g(1); }", "fn f() { g(1); }"),
    ] {
        let (found, rest) = (lex(find(name), text).tokens, lex(find(name), rest).tokens);
        assert!(found.ends_with(&rest) && found.len() <= rest.len() + 8, "{name}: {text}");
    }
}

#[test]
fn external_lexers_have_the_same_classes() {
    // Words are names but for `use` and `my`; signs stand by their text.
    let rows = |text: &str| {
        let mut rows = Vec::new();
        let mut start = 0;
        for word in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
            let (name, sign) = match word.char_indices().next_back() {
                Some((at, c)) if !c.is_alphanumeric() => word.split_at(at),
                _ => (word, ""),
            };
            if !name.is_empty() {
                rows.push((start, start + name.len(), u32::from(!matches!(name, "use" | "my"))));
            }
            if !sign.trim().is_empty() {
                rows.push((start + name.len(), start + word.len(), 0));
            }
            start += word.len();
        }
        rows
    };
    let fold = |text: &str| lexed::fold(text, "perl", rows(text));
    let value = |class: &str| token_value(format!("perl\0{class}").as_bytes());
    let code = fold("use POSIX;\nmy Dog spot = f(x);");
    let expected =
        ["\u{1}import:use POSIX", "my", "\u{1}type", "\u{1}name", "=", "\u{1}call", "(", "\u{1}name", ")", ";"]
            .map(value);
    assert_eq!(code.tokens, expected);
    assert_ne!(fold("use POSIX;").tokens, fold("use strict;").tokens);
    assert_eq!(lexed::fold("use x;", "unheard", [(0, 3, 0), (4, 5, 1), (5, 6, 0)]).tokens.len(), 3);
}

#[test]
fn numbers_with_arithmetic_between_them_are_one_number() {
    for (name, long, short) in [
        ("java", "class A { int x = 60 * 60 + 1; }", "class A { int x = 3601; }"),
        ("java", "class A { int x = f(2 - 1, 7 % 4); }", "class A { int x = f(1, 3); }"),
        ("cpp", "int main() { return a * (3 - 1) / 2; }", "int main() { return a * 2 / 2; }"),
        ("python", "x = y[3 - 2] + (1 + 1)\n", "x = y[1] + 2\n"),
        ("javascript", "let x = 5 /* five */ + 6;", "let x = 11;"),
    ] {
        assert_eq!(both(name, long), both(name, short), "{name}: {long}");
    }
    for (name, one, other) in [
        ("python", "x = 1\n-2\n", "x = 1\n"),
        ("python", "f(1, -2)\n", "f(1)\n"),
        ("python", "x = 1 << 2\n", "x = 4\n"),
        ("python", "x = 2 + 3 ** y\n", "x = 5 ** y\n"),
        ("python", "x = y // 2 + 3\n", "x = y // 5\n"),
        ("javascript", "x = 1 -\n2", "x = 1"),
        ("java", "class A { int x = f(1) + 2; }", "class A { int x = f(1); }"),
        ("java", "class A { int x = 2 + 1 + y; }", "class A { int x = 3 + y; }"),
        ("java", "class A { int x = y - 1 + 2; }", "class A { int x = y - 3; }"),
    ] {
        assert_ne!(both(name, one), both(name, other), "{name}: {one}");
    }
}

#[test]
fn constant_expressions_are_those_that_a_text_search_finds() {
    let pieces = "1 22 x + - * / % ( ) , << & | ^ ~ 1 3.5 7 8 9".split(' ').collect::<Vec<_>>();
    let (mut state, language) = (1u64, find("java"));
    for _ in 0..2_000 {
        let words: Vec<&str> = (0..12)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                pieces[(state >> 33) as usize % pieces.len()]
            })
            .collect();
        // No sign of two characters, such as `--`, may arise, so blanks stay.
        let text = words.join(" ");
        let kind = |word: &&str| match *word {
            "+" | "-" | "*" | "/" | "%" => 'a',
            "<<" | "&" | "|" | "^" | "~" => 'b',
            word if word.starts_with(|c: char| c.is_ascii_digit()) => 'n',
            _ => 'o',
        };
        let kinds: String = words.iter().map(kind).collect();
        let is_constant = |from: usize, to: usize| {
            let inside: Vec<char> = kinds[from..=to].chars().collect();
            inside.iter().enumerate().all(|(at, kind)| *kind == if at % 2 == 0 { 'n' } else { 'a' })
                && inside.len() % 2 == 1
                && !kinds[..from].ends_with(['a', 'b'])
                && !kinds[to + 1..].starts_with(['a', 'b'])
        };
        let (mut expected, mut at) = (Vec::new(), 0);
        while at < words.len() {
            let last = (at..words.len()).rev().find(|to| is_constant(at, *to)).unwrap_or(at);
            expected.push(words[at..=last].join(" "));
            at = last + 1;
        }
        expected.retain(|word| !["(", ")", ","].contains(&word.as_str()));
        let code = lex(language, &text);
        let found: Vec<&str> = code.spans.iter().map(|span| &text[span.start as usize..span.end as usize]).collect();
        assert_eq!(found, expected, "{text}");
    }
}
