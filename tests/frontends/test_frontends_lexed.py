"""Lexed languages: renaming and reformatting change nothing, unrelated programs differ, hostile texts end."""

from __future__ import annotations

import re
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike import _core, frontends
from lookalike.frontends import lexed
from lookalike.frontends.syntax import SYNTAX, scanner

#: For each language a program, the same with other names, values, layout and comments, and another program.
PROGRAMS = {
    "ada": (
        r"""
procedure Sum is
  Total : Integer := 0; -- the sum
begin
  for I in 1 .. 10 loop
    Total := Total + I;
  end loop;
  Put_Line ("Sum is");
end Sum;
""",
        r"""
PROCEDURE Add IS Acc:INTEGER:=7;
BEGIN FOR K IN 2..99 LOOP Acc:=Acc+K; -- add
END LOOP; Show("x""y"); END Add;
""",
        r"""
package Stack is
  function Pop return Integer;
private
  Top : Natural;
end Stack;
""",
    ),
    "asm": (
        r"""
section .text
start:
  mov eax, 5 ; five
  add eax, ebx
  cmp eax, 0x10
  jne start
  ret
""",
        r"""
SECTION .data
again:  MOV ECX,77
 ADD ECX,EDX

 CMP ECX, 99 ; done?
 JNE again
 RET
""",
        r"""
main:
  push rbp
  call printf
  xor eax, eax
  pop rbp
  leave
""",
    ),
    "clojure": (
        r"""
(defn square [n]
  ; times itself
  (let [r (* n n)]
    (println "square" r)
    r))
""",
        r"""
(defn quadrat [wert] (let [e (* wert wert)] (println "q \" q" e) e)) ; done
""",
        r"""
(ns shop.core)
(def prices {:apple 3})
(if (empty? prices) nil (map inc prices))
""",
    ),
    "fortran": (
        r"""
program main
  implicit none
  integer :: i, total = 0
  do i = 1, 10 ! count
    total = total + i
  end do
  print *, 'total', total
end program main
""",
        r"""
PROGRAM FOO
IMPLICIT NONE
INTEGER::K,ACC=5
DO K=3,77
ACC=ACC+K
END DO ! over
PRINT *,"it's",ACC
END PROGRAM FOO
""",
        r"""
subroutine swap(a, b)
  real, intent(inout) :: a, b
  if (a > b) then
    call exchange(a, b)
  endif
end
""",
    ),
    "fortranfixed": (
        r"""
      PROGRAM MAIN
C     A COMMENT
      INTEGER I
      DO 10 I = 1, 5
      WRITE(*,*) I
   10 CONTINUE
      END
""",
        r"""
      program other
* another one
      integer number
      do 20 number=7,9
      write(*,*)number
   20 continue
c end
      end
""",
        r"""
      REAL FUNCTION F(X)
      F = X * X
      RETURN
      END
""",
    ),
    "haskell": (
        r"""
module Main where
-- main
square :: Int -> Int
square x = x * x
main = do
  let y = square 3
  putStrLn ("hi" ++ show y)
""",
        r"""
module Other where
{- a {- nested -} one -}
quad :: Zahl -> Zahl
quad n'=n'*n'
start = do
  let z=quad 42
  output("ho"++display z)
""",
        r"""
data Tree a = Leaf | Node (Tree a) a (Tree a)
insert t v = case t of { Leaf -> Node Leaf v Leaf }
""",
    ),
    "julia": (
        r"""
function area(r)
  # of a circle
  a = 3.14 * r^2
  println("area $a")
  return a
end
""",
        r"""
function flaeche(radius)  #= a #= nested =# note =#
 f=2.72*radius^3
 show("x")
return f end
""",
        r"""
struct Point
  x::Float64
  y::Float64
end
for p in points
  push!(seen, p)
end
""",
    ),
    "lisp": (
        r"""
(defun fact (n)
  "doc"
  (if (<= n 1) 1 ; base
      (* n (fact (- n 1)))))
""",
        r"""
(DEFUN f (num) "x \" y" #| a #| b |# c |# (IF (<= num 2) 7 (* num (f (- num 3)))))
""",
        r"""
(defstruct point x y)
(loop for p in points do (setq total (+ total (point-x p))))
""",
    ),
    "matlab": (
        r"""
function s = total(v)
% sums
s = 0;
for i = 1:10
  s = s + v(i)';
end
disp('done');
end
""",
        r"""
function acc=addup(x) # octave
%{
long
%}
acc=5;
for k=2:77
acc=acc + ...
 x(k)';
end
disp('it''s');
end
""",
        r"""
if isempty(A)
  B = zeros(3, 4);
else
  error('no');
end
while B(1) < 5, B = B .* 2; end
""",
    ),
    "mips": (
        r"""
.text
main: li $t0, 5 # five
  addi $t0, $t0, 1
  beq $t0, $t1, main
  syscall
""",
        r"""
.TEXT
loop:	LI $s3,77

  ADDI $s3,$s3,4
  BEQ $s3,$a0,loop # again
  SYSCALL
""",
        r"""
.data
msg: .asciiz "hello"
.text
  la $a0, msg
  jal print
  jr $ra
""",
    ),
    "modula2": (
        r"""
MODULE Hello;
VAR i: INTEGER;
BEGIN
  FOR i := 1 TO 10 DO (* loop *)
    WriteString("hi");
  END;
END Hello.
""",
        r"""
MODULE Bye; VAR k:INTEGER; BEGIN FOR k:=5 TO 99 DO Print('ho') (* a (* b *) c *); END; END Bye.
""",
        r"""
PROCEDURE Max(a, b: REAL): REAL;
BEGIN
  IF a > b THEN RETURN a ELSE RETURN b END
END Max;
""",
    ),
    "ocaml": (
        r"""
let rec fact n =
  (* base *)
  if n <= 1 then 1
  else n * fact (n - 1)
let () = print_string "hi"
""",
        r"""
let rec f k' = if k'<=2 then 7 else k'*f(k'-3) (* a (* b *) *)
let ()=show "h\"o"
""",
        r"""
type tree = Leaf | Node of tree * int * tree
let size t = match t with Leaf -> 0 | Node (l, _, r) -> size l
""",
    ),
    "pascal": (
        r"""
program Sum;
var i, total: integer;
begin
  total := 0; { start }
  for i := 1 to 10 do
    total := total + i;
  writeln('total', total);
end.
""",
        r"""
PROGRAM Add;VAR k,acc:INTEGER;
BEGIN acc:=5; // begin
FOR k:=3 TO 7 DO acc:=acc+k; (* more *) WriteLn('it''s',acc); END.
""",
        r"""
procedure Swap(var a, b: real);
begin
  if a > b then repeat a := b until true;
end;
""",
    ),
    "perl": (
        r"""
use strict;
sub total {
  my ($x, @rest) = @_; # args
  foreach my $r (@rest) { $x += $r; }
  print "sum $x\n";
  return $x;
}
""",
        r"""
use strict;
=pod

words 'here

=cut
sub adding { my($acc,@more)=@_;
foreach my $m(@more){$acc+=$m;} print 'y'; return $acc;}
""",
        r"""
while (<STDIN>) {
  chomp;
  push @lines, $_ if /abc/;
}
close(F) or die;
""",
    ),
    "prolog": (
        r"""
% length of a list
len([], 0).
len([_|T], N) :- len(T, M), N is M + 1.
main :- len([a,b], X), write('n'), nl.
""",
        r"""
size([],5). /* the rest */ size([_|Rest],Num):-size(Rest,Was),Num is Was+7.
start:-size([x,y],Q),print('long one'),end.
""",
        r"""
parent(tom, bob).
ancestor(X, Y) :- parent(X, Y); parent(X, Z), !, ancestor(Z, Y).
""",
    ),
    "scheme": (
        r"""
(define (fact n)
  ; base
  (if (<= n 1) 1
      (* n (fact (- n 1)))))
(display "hi")
""",
        r"""
(define (f num) #| x |# (if (<= num 2) 7 (* num (f (- num 3))))) (display "h\"o")
""",
        r"""
(let loop ((i 0))
  (cond ((= i 10) '())
        (else (cons i (loop (+ i 1))))))
""",
    ),
    "vb": (
        r"""
Module Main
  Sub Main()
    Dim total As Integer = 0 ' start
    For i As Integer = 1 To 10
      total = total + i
    Next
    Console.WriteLine("total")
  End Sub
End Module
""",
        r"""
MODULE Other
SUB Start()
DIM acc AS INTEGER=7
FOR k AS INTEGER=3 TO 99
acc=acc+k REM more
NEXT
Out.Put("a""b")
END SUB
END MODULE
""",
        r"""
Class P
  Public Property X As Double
  Function F() As Double
    If X > 1 Then Return X
  End Function
End Class
""",
    ),
    "verilog": (
        r"""
module counter(input clk, output reg [7:0] q);
// counts
always @(posedge clk) begin
  q <= q + 8'h01;
end
endmodule
""",
        r"""
module zaehler(input takt,output reg[15:2]wert); /* up */ always@(posedge takt)begin wert<=wert+ 16'b10; end
endmodule
""",
        r"""
module mux(a, b, s, y);
  assign y = s ? a : b;
  initial $display("go");
endmodule
""",
    ),
    "vhdl": (
        r"""
entity counter is
  port (clk : in std_logic); -- clock
end counter;
architecture rtl of counter is
begin
  process (clk) begin
    if clk = '1' then q <= q + 1; end if;
  end process;
end rtl;
""",
        r"""
ENTITY zaehler IS PORT(takt:IN STD_LOGIC);END zaehler;
ARCHITECTURE a OF zaehler IS BEGIN PROCESS(takt)BEGIN
IF takt='0' THEN w<=w+77;END IF;END PROCESS; -- end
END a;
""",
        r"""
library ieee;
use ieee.numeric_std.all;
package p is
  constant n : natural := 8;
end package;
""",
    ),
}
#: Pieces that open and never close, or that lexers are known to stumble over.
HOSTILE = [
    '"',
    "'",
    "`",
    "\\",
    '\\"',
    "{",
    "(*",
    "/*",
    "{-",
    "#|",
    "#=",
    "<#",
    "[[",
    "--[[",
    '"""',
    "(",
    "%{\n",
    "#{ \n",
]
HOSTILE += [
    "=pod\n",
    "a",
    "0",
    "1e",
    "\n",
    " ",
    "#",
    "-",
    "/",
    "<",
    "m{",
    "'a",
    "...",
    "0'",
    "8'",
    "$",
    "--",
    "a' ",
    "\r",
]
SIZE = 10_000


def tokens(text: str, language: str, comments: bool = False) -> list[tuple[int, int, int]]:
    columns = array("I", lexed.tokenise(text, language, comments)[0])
    return list(zip(columns[0::3], columns[1::3], columns[2::3], strict=True))


def folded(text: str, language: str) -> list[str]:
    """What is compared of each token."""
    names = {lexed.NAME: "<name>", lexed.NUMBER: "<number>", lexed.STRING: "<string>", lexed.TYPE: "<type>"}
    found = []
    for start, end, kind in tokens(text, language):
        written = text[start:end].lower() if kind == lexed.FOLDED else text[start:end]
        found.append(names.get(kind, written))
    return found


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_renamed_and_reformatted_program_has_the_same_tokens(language: str):
    program, disguised, _ = PROGRAMS[language]
    assert folded(program, language) == folded(disguised, language)


@pytest.mark.parametrize("language", PROGRAMS)
def test_another_program_shares_no_run_of_tokens(language: str):
    program, _, other = PROGRAMS[language]

    def runs(text: str) -> set[tuple[str, ...]]:
        stream = folded(text, language)
        return {tuple(stream[i : i + 12]) for i in range(len(stream) - 11)}

    assert not runs(program) & runs(other)


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_program_keeps_words_of_its_language(language: str):
    stream = folded(PROGRAMS[language][0], language)
    kept = {token for token in stream if token[0].isalpha() or token[0] == "."}
    assert len(kept) >= (1 if language == "prolog" else 2)


def test_every_lexed_language_has_a_syntax_and_a_lexer():
    from pygments.lexers import get_lexer_by_name

    names = {language.name for language in frontends.LANGUAGES.values() if language.kind == "lexer"}
    assert names == SYNTAX.keys()
    assert all(get_lexer_by_name(syntax.lexer) for syntax in SYNTAX.values())


@pytest.mark.parametrize("language", SYNTAX)
def test_hostile_texts_end(language: str):
    for piece in HOSTILE:
        packed, _ = lexed.tokenise(piece * (SIZE // len(piece)), language)
        assert len(packed) <= SIZE * 12, piece


@pytest.mark.parametrize("language", SYNTAX)
def test_no_expression_ever_goes_back_over_what_it_has_read(language: str):
    """Linear time by construction: each repetition without a bound is possessive."""
    plain = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", "x", scanner(language).pattern)
    assert not re.findall(r"[*+](?!\+)(?<![*+?}]\+)|\{\d+,\}(?!\+)", plain)


@pytest.mark.parametrize(
    ("language", "piece"), [("pascal", "{"), ("ocaml", "(*"), ("perl", '\\"'), ("matlab", "\n"), ("vb", "'")]
)
def test_what_never_closes_is_read_once(language: str, piece: str):
    """Sizes at which a second reading from each opening would take hours."""
    packed, _ = lexed.tokenise(piece * 1_000_000, language)
    assert len(packed) <= 24


@given(
    st.sampled_from(sorted(SYNTAX)),
    st.text(st.sampled_from("ab01 \n\t\r\"'`\\{}()[]*/#%-=;|<>$@é\U0001f600"), max_size=60),
)
def test_tokens_ascend_inside_the_text_and_hold_no_edge_of_white_space(language: str, text: str):
    last = 0
    for start, end, kind in tokens(text, language, comments=True):
        assert last <= start < end <= len(text)
        assert kind in range(7)
        assert not text[start].isspace()
        last = end


def test_comments_count_word_by_word_when_asked():
    text = "x = 1 -- copied WORDS\n"
    assert len(tokens(text, "haskell")) == 3
    kept = tokens(text, "haskell", comments=True)
    assert [text[start:end] for start, end, kind in kept if kind == lexed.COMMENT] == ["copied", "WORDS"]


def test_line_ends_of_every_system_are_the_same():
    program = PROGRAMS["pascal"][0]
    unix = folded(program, "pascal")
    assert folded(program.replace("\n", "\r\n"), "pascal") == unix
    assert folded(program.replace("\n", "\r"), "pascal") == unix


def test_an_offset_moves_every_token():
    text = "local x = 1"
    moved = array("I", lexed.tokenise(text, "haskell", offset=100)[0])
    assert list(zip(moved[0::3], moved[1::3], strict=True)) == [
        (s + 100, e + 100) for s, e, _ in tokens(text, "haskell")
    ]


def test_more_distinct_words_than_are_asked_about_are_noted():
    text = " ".join(f"w{number}" for number in range(lexed.MAX_WORDS + 2)) + " begin"
    packed, notes = lexed.tokenise(text, "pascal")
    assert len(notes) == 1
    assert notes[0].startswith("more than ")
    assert array("I", packed)[-1] == lexed.NAME


def test_legacy_bytes_are_read_and_the_guess_is_noted():
    read = frontends.read("gruss.pas", "begin writeln('Grüße'); end.".encode("windows-1252"))
    assert read.text == "begin writeln('Grüße'); end."
    assert read.notes == ("encoding: windows-1252 (guessed)",)
    assert read.parts[0].lexed


def test_a_str_is_read_in_one_pass():
    # With a look at the whole text for each offset, eight megabytes would never end.
    line = "my $total = f($x) + 42;  # a sum\n"
    text = line * (8 * 2**20 // len(line))
    rows = lexed.tokenise(text, "perl")[0]
    part = ("perl", 0, len(text), rows, None, 10, 14)
    ascii_only, other = _core.ReadFile(text, [part], False), _core.ReadFile("é" + text[1:], [part], False)
    assert ascii_only.tokens == other.tokens == _core.ReadFile(text.encode(), [part], False).tokens
    assert ascii_only.tokens == 10 * text.count("\n")
