//go:build amd64 && !purego

#include "textflag.h"

// Constants of 32 equal bytes: what the classes and comparisons below need.
DATA quote<>+0(SB)/8, $0x2222222222222222
DATA quote<>+8(SB)/8, $0x2222222222222222
DATA quote<>+16(SB)/8, $0x2222222222222222
DATA quote<>+24(SB)/8, $0x2222222222222222
GLOBL quote<>(SB), RODATA|NOPTR, $32

DATA backslash<>+0(SB)/8, $0x5c5c5c5c5c5c5c5c
DATA backslash<>+8(SB)/8, $0x5c5c5c5c5c5c5c5c
DATA backslash<>+16(SB)/8, $0x5c5c5c5c5c5c5c5c
DATA backslash<>+24(SB)/8, $0x5c5c5c5c5c5c5c5c
GLOBL backslash<>(SB), RODATA|NOPTR, $32

DATA control<>+0(SB)/8, $0x1f1f1f1f1f1f1f1f
DATA control<>+8(SB)/8, $0x1f1f1f1f1f1f1f1f
DATA control<>+16(SB)/8, $0x1f1f1f1f1f1f1f1f
DATA control<>+24(SB)/8, $0x1f1f1f1f1f1f1f1f
GLOBL control<>(SB), RODATA|NOPTR, $32

DATA nibble<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA nibble<>+8(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA nibble<>+16(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA nibble<>+24(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL nibble<>(SB), RODATA|NOPTR, $32

DATA hexdigit<>+0(SB)/8, $0x3030303030303030
DATA hexdigit<>+8(SB)/8, $0x3030303030303030
DATA hexdigit<>+16(SB)/8, $0x3030303030303030
DATA hexdigit<>+24(SB)/8, $0x3030303030303030
GLOBL hexdigit<>(SB), RODATA|NOPTR, $32

DATA lowercase<>+0(SB)/8, $0x2020202020202020
DATA lowercase<>+8(SB)/8, $0x2020202020202020
DATA lowercase<>+16(SB)/8, $0x2020202020202020
DATA lowercase<>+24(SB)/8, $0x2020202020202020
GLOBL lowercase<>(SB), RODATA|NOPTR, $32

DATA letteru<>+0(SB)/8, $0x7575757575757575
DATA letteru<>+8(SB)/8, $0x7575757575757575
DATA letteru<>+16(SB)/8, $0x7575757575757575
DATA letteru<>+24(SB)/8, $0x7575757575757575
GLOBL letteru<>(SB), RODATA|NOPTR, $32

DATA letterd<>+0(SB)/8, $0x6464646464646464
DATA letterd<>+8(SB)/8, $0x6464646464646464
DATA letterd<>+16(SB)/8, $0x6464646464646464
DATA letterd<>+24(SB)/8, $0x6464646464646464
GLOBL letterd<>(SB), RODATA|NOPTR, $32

// A byte is of a class if the entries of its low and its high nibble share a
// bit. Bits 0 to 3 are what a backslash may escape: " and / (2x), the backslash
// (5x), b f n (6x), r t u (7x). Bit 4 is the digits, bit 5 the letters a to f in
// either case (4x, 6x).
//
DATA lowclass<>+0(SB)/8, $0x10343838303d3010
DATA lowclass<>+8(SB)/8, $0x0104000200001010
DATA lowclass<>+16(SB)/8, $0x10343838303d3010
DATA lowclass<>+24(SB)/8, $0x0104000200001010
GLOBL lowclass<>(SB), RODATA|NOPTR, $32

DATA highclass<>+0(SB)/8, $0x0824022010010000
DATA highclass<>+8(SB)/8, $0x0000000000000000
DATA highclass<>+16(SB)/8, $0x0824022010010000
DATA highclass<>+24(SB)/8, $0x0000000000000000
GLOBL highclass<>(SB), RODATA|NOPTR, $32

// MASK sets m to one bit for each byte of lo:hi that equals c.
#define MASK(c, lo, hi, m) \
	VPCMPEQB  c, lo, Y8; \
	VPMOVMSKB Y8, m; \
	VPCMPEQB  c, hi, Y9; \
	VPMOVMSKB Y9, DI; \
	SHLQ      $32, DI; \
	ORQ       DI, m

// NONE sets m to one bit for each byte of the block whose class, in Y12:Y13,
// shares no bit with c.
#define NONE(c, m) \
	VPAND     c, Y12, Y8; \
	VPCMPEQB  Y3, Y8, Y8; \
	VPMOVMSKB Y8, m; \
	VPAND     c, Y13, Y9; \
	VPCMPEQB  Y3, Y9, Y9; \
	VPMOVMSKB Y9, DI; \
	SHLQ      $32, DI; \
	ORQ       DI, m

// CLASS sets class to the classes of the bytes in text. Y10 is nibble, Y11
// lowclass, Y14 highclass.
#define CLASS(text, class) \
	VPAND   Y10, text, Y8; \
	VPSHUFB Y8, Y11, Y8; \
	VPSRLW  $4, text, Y9; \
	VPAND   Y10, Y9, Y9; \
	VPSHUFB Y9, Y14, Y9; \
	VPAND   Y8, Y9, class

// func scanAVX2(p *byte, n int) (at, flags int)
//
// SI is the text, CX the last index at which a block can begin, AX where this
// one does, BX a clean index to fall back to, DX the flags. Two things carry
// over from the block before: R8 is 1 if the first byte of this one is escaped,
// R9 has the bytes that must be hexadecimal digits. Y0 is quote, Y1 backslash,
// Y2 control, Y3 zero, Y15 every plain block so far, or-ed; Y4:Y5 is the block.
TEXT ·scanAVX2(SB), NOSPLIT, $0-32
	MOVQ    p+0(FP), SI
	MOVQ    n+8(FP), CX
	SUBQ    $64, CX
	XORQ    AX, AX
	XORQ    BX, BX
	XORQ    DX, DX
	XORQ    R8, R8
	XORQ    R9, R9
	VMOVDQU quote<>(SB), Y0
	VMOVDQU backslash<>(SB), Y1
	VMOVDQU control<>(SB), Y2
	VPXOR   Y3, Y3, Y3
	VPXOR   Y15, Y15, Y15
	PCALIGN $32

block:
	CMPQ      AX, CX
	JGT       tail
	VMOVDQU   (SI)(AX*1), Y4
	VMOVDQU   32(SI)(AX*1), Y5
	VPCMPEQB  Y0, Y4, Y6
	VPCMPEQB  Y1, Y4, Y7
	VPMINUB   Y2, Y4, Y8
	VPCMPEQB  Y4, Y8, Y8
	VPOR      Y6, Y7, Y6
	VPOR      Y6, Y8, Y6
	VPCMPEQB  Y0, Y5, Y9
	VPCMPEQB  Y1, Y5, Y10
	VPMINUB   Y2, Y5, Y11
	VPCMPEQB  Y5, Y11, Y11
	VPOR      Y9, Y10, Y9
	VPOR      Y9, Y11, Y9
	VPOR      Y6, Y9, Y6
	VPMOVMSKB Y6, R10
	MOVQ      R8, R11
	ORQ       R9, R11
	ORQ       R11, R10
	JNZ       mixed
	VPOR      Y4, Y15, Y15
	VPOR      Y5, Y15, Y15
	ADDQ      $64, AX
	JMP       block

mixed:
	TESTQ   R11, R11
	CMOVQEQ AX, BX
	MASK(Y0, Y4, Y5, R10)    // R10: quotes
	MASK(Y1, Y4, Y5, R11)    // R11: backslashes
	XORQ    R12, R12         // R12: escaped bytes
	MOVQ    R11, R13
	ORQ     R8, R13
	JZ      string

	// In a run of backslashes every second one is escaped. Subtracting a run
	// from the odd bits carries through it, and ends in the bit behind it or
	// not, as its length is odd or even.
	MOVQ R8, R13
	NOTQ R13
	ANDQ R11, R13
	LEAQ (R13)(R13*1), R12
	MOVQ $0xaaaaaaaaaaaaaaaa, DI
	ORQ  DI, R12
	SUBQ R13, R12
	XORQ DI, R12             // R12: backslashes that escape, and bytes behind runs of odd length
	MOVQ R12, R13
	ANDQ R11, R13            // R13: backslashes that escape
	ORQ  R11, R8
	XORQ R8, R12
	MOVQ R13, R8
	SHRQ $63, R8

string:
	MOVQ R12, R14
	NOTQ R14
	ANDQ R14, R10            // R10: quotes that are not escaped
	MOVQ R10, R13
	NEGQ R13
	ANDQ R10, R13
	DECQ R13                 // R13: the bytes before the first of them

	// Control characters.
	VPMINUB   Y2, Y4, Y8
	VPCMPEQB  Y4, Y8, Y8
	VPMOVMSKB Y8, R14
	VPMINUB   Y2, Y5, Y9
	VPCMPEQB  Y5, Y9, Y9
	VPMOVMSKB Y9, DI
	SHLQ      $32, DI
	ORQ       DI, R14
	TESTQ     R13, R14
	JNZ       wrong

	// Bytes that are no ASCII.
	VPMOVMSKB Y4, R14
	VPMOVMSKB Y5, DI
	SHLQ      $32, DI
	ORQ       DI, R14
	ANDQ      R13, R14
	NEGQ      R14
	SBBQ      DI, DI
	ANDQ      $1, DI
	ORQ       DI, DX

	// Escapes.
	ANDQ    R13, R12
	MOVQ    R12, R14
	ORQ     R9, R14
	JZ      next
	ORQ     $2, DX
	VMOVDQU nibble<>(SB), Y10
	VMOVDQU lowclass<>(SB), Y11
	VMOVDQU highclass<>(SB), Y14
	CLASS(Y4, Y12)
	CLASS(Y5, Y13)
	NONE(Y10, R14)
	TESTQ   R12, R14
	JNZ     wrong
	VMOVDQU letteru<>(SB), Y10
	MASK(Y10, Y4, Y5, R14)
	ANDQ    R14, R12         // R12: the u of each \u
	MOVQ    R12, R14
	ORQ     R9, R14
	JZ      next
	LEAQ    (R12)(R12*1), R14
	ORQ     R12, R14
	LEAQ    (R14)(R14*1), DI
	SHLQ    $3, R14
	ORQ     DI, R14
	ORQ     R9, R14          // R14: the four bytes behind each, and those from before
	SHRQ    $60, R12
	MOVQ    R12, R9
	SHRQ    $1, R12
	ORQ     R12, R9
	MOVQ    R9, R12
	SHRQ    $2, R12
	ORQ     R12, R9          // R9: the same in the next block
	VMOVDQU hexdigit<>(SB), Y10
	NONE(Y10, R12)
	NOTQ    R13
	ORQ     R13, R12         // R12: bytes that are no such digit, or not of the string
	TESTQ   R12, R14
	JNZ     wrong
	VMOVDQU lowercase<>(SB), Y10
	VPOR    Y10, Y4, Y12
	VPOR    Y10, Y5, Y13
	VMOVDQU letterd<>(SB), Y10
	MASK(Y10, Y12, Y13, R12)
	TESTQ   R12, R14
	JZ      next
	ORQ     $4, DX           // surrogates are d800 to dfff

next:
	TESTQ R10, R10
	JNZ   found
	ADDQ  $64, AX
	JMP   block

found:
	BSFQ R10, R10
	ADDQ R10, AX
	ORQ  $8, DX
	JMP  done

tail:
	ORQ R8, R9
	JZ  done

wrong:
	MOVQ BX, AX

done:
	VPMOVMSKB Y15, DI
	NEGL      DI
	SBBQ      DI, DI
	ANDQ      $1, DI
	ORQ       DI, DX
	VZEROUPPER
	MOVQ      AX, at+16(FP)
	MOVQ      DX, flags+24(FP)
	RET

// func detectAVX2() bool
TEXT ·detectAVX2(SB), NOSPLIT, $0-1
	MOVB  $0, ret+0(FP)
	XORL  AX, AX
	XORL  CX, CX
	CPUID
	CMPL  AX, $7             // the leaf with AVX2
	JLT   no
	MOVL  $1, AX
	XORL  CX, CX
	CPUID
	ANDL  $0x18000000, CX    // OSXSAVE and AVX
	CMPL  CX, $0x18000000
	JNE   no
	XORL  CX, CX
	XGETBV
	ANDL  $6, AX             // the system keeps XMM and YMM registers
	CMPL  AX, $6
	JNE   no
	MOVL  $7, AX
	XORL  CX, CX
	CPUID
	SHRL  $5, BX
	ANDL  $1, BX
	MOVB  BX, ret+0(FP)

no:
	RET
