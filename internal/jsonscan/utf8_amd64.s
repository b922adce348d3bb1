//go:build amd64 && !purego

#include "textflag.h"

// What is wrong with two bytes in a row is a bit in all three of the entries
// that the nibbles of the first byte and the high nibble of the second have:
//
//	01 the first begins a sequence, the second continues none
//	02 the second continues a sequence, the first is ASCII
//	04 20 40 an overlong form of three, two, four bytes
//	08 40 above U+10FFFF
//	10 half a surrogate pair
//	80 both continue a sequence: wrong unless the first is its second byte, or third of four
DATA firsthigh<>+0(SB)/8, $0x0202020202020202
DATA firsthigh<>+8(SB)/8, $0x4915012180808080
DATA firsthigh<>+16(SB)/8, $0x0202020202020202
DATA firsthigh<>+24(SB)/8, $0x4915012180808080
GLOBL firsthigh<>(SB), RODATA|NOPTR, $32

DATA firstlow<>+0(SB)/8, $0xcbcbcb8b8383a3e7
DATA firstlow<>+8(SB)/8, $0xcbcbdbcbcbcbcbcb
DATA firstlow<>+16(SB)/8, $0xcbcbcb8b8383a3e7
DATA firstlow<>+24(SB)/8, $0xcbcbdbcbcbcbcbcb
GLOBL firstlow<>(SB), RODATA|NOPTR, $32

DATA secondhigh<>+0(SB)/8, $0x0101010101010101
DATA secondhigh<>+8(SB)/8, $0x01010101babaaee6
DATA secondhigh<>+16(SB)/8, $0x0101010101010101
DATA secondhigh<>+24(SB)/8, $0x01010101babaaee6
GLOBL secondhigh<>(SB), RODATA|NOPTR, $32

// What to subtract so that bytes that begin three, and four, bytes keep the high
// bit and no other does.
DATA three<>+0(SB)/8, $0x6060606060606060
DATA three<>+8(SB)/8, $0x6060606060606060
DATA three<>+16(SB)/8, $0x6060606060606060
DATA three<>+24(SB)/8, $0x6060606060606060
GLOBL three<>(SB), RODATA|NOPTR, $32

DATA four<>+0(SB)/8, $0x7070707070707070
DATA four<>+8(SB)/8, $0x7070707070707070
DATA four<>+16(SB)/8, $0x7070707070707070
DATA four<>+24(SB)/8, $0x7070707070707070
GLOBL four<>(SB), RODATA|NOPTR, $32

DATA highbit<>+0(SB)/8, $0x8080808080808080
DATA highbit<>+8(SB)/8, $0x8080808080808080
DATA highbit<>+16(SB)/8, $0x8080808080808080
DATA highbit<>+24(SB)/8, $0x8080808080808080
GLOBL highbit<>(SB), RODATA|NOPTR, $32

DATA lownibble<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA lownibble<>+8(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA lownibble<>+16(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA lownibble<>+24(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL lownibble<>(SB), RODATA|NOPTR, $32

// func utf8AVX2(p *byte, n int) bool
//
// SI is the text, CX its length, AX where the block begins. Y0 to Y6 are the
// constants, Y7 is the block before, Y8 this one, Y15 what is wrong.
TEXT ·utf8AVX2(SB), NOSPLIT, $0-17
	MOVQ    p+0(FP), SI
	MOVQ    n+8(FP), CX
	SUBQ    $32, CX
	XORQ    AX, AX
	VMOVDQU firsthigh<>(SB), Y0
	VMOVDQU firstlow<>(SB), Y1
	VMOVDQU secondhigh<>(SB), Y2
	VMOVDQU three<>(SB), Y3
	VMOVDQU four<>(SB), Y4
	VMOVDQU highbit<>(SB), Y5
	VMOVDQU lownibble<>(SB), Y6
	VPXOR   Y7, Y7, Y7
	VPXOR   Y15, Y15, Y15
	PCALIGN $32

block:
	CMPQ       AX, CX
	JGT        done
	VMOVDQU    (SI)(AX*1), Y8
	ADDQ       $32, AX
	VPOR       Y7, Y8, Y9
	VPMOVMSKB  Y9, DX
	TESTL      DX, DX
	JZ         plain

	// Y10, Y11, Y12: the block moved on by one, two and three bytes.
	VPERM2I128 $0x21, Y8, Y7, Y9
	VPALIGNR   $15, Y9, Y8, Y10
	VPALIGNR   $14, Y9, Y8, Y11
	VPALIGNR   $13, Y9, Y8, Y12

	// Y13: what is wrong with each byte and the one before it.
	VPSRLW  $4, Y10, Y13
	VPAND   Y6, Y13, Y13
	VPSHUFB Y13, Y0, Y13
	VPAND   Y6, Y10, Y14
	VPSHUFB Y14, Y1, Y14
	VPAND   Y14, Y13, Y13
	VPSRLW  $4, Y8, Y14
	VPAND   Y6, Y14, Y14
	VPSHUFB Y14, Y2, Y14
	VPAND   Y14, Y13, Y13

	// Third and fourth bytes must continue, and only those may do so twice.
	VPSUBUSB Y3, Y11, Y11
	VPSUBUSB Y4, Y12, Y12
	VPOR     Y11, Y12, Y11
	VPAND    Y5, Y11, Y11
	VPXOR    Y11, Y13, Y13
	VPOR     Y13, Y15, Y15

plain:
	VMOVDQA Y8, Y7
	JMP     block

done:
	VPTEST Y15, Y15
	SETEQ  ret+16(FP)
	VZEROUPPER
	RET
