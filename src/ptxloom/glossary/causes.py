"""Why operands are wrong: every cause that a diagnosis can name, each with its page."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Final

from ptxloom.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Cause:
    """One way in which a matrix goes wrong.

    Attributes:
        id: Its name in diagnoses and JSON.
        about: A short description, as the start of a sentence.
        seen: What the operand looks like.
        change: The change that mends it.
    """

    id: str
    about: str
    seen: str
    change: str

    @property
    def example(self) -> str:
        """A kernel with this mistake, the report of `why`, and its repair, as Markdown."""
        return _examples()[self.id]["example"]

    @property
    def markdown(self) -> str:
        """The page that `ptxloom explain` prints."""
        seen = f"## What is seen\n\n{self.seen}\n\n"
        shown = f"## Example\n\n{self.example}\n"
        return f"# {self.id}\n\n{self.about}.\n\n{seen}{shown}## What to change\n\n{self.change}\n"


_EXAMPLES: Final = Path(__file__).parent / "examples.toml"

_CAUSES: Final = (
    Cause(
        "trans-missing",
        "The matrix move lacks `.trans`",
        "Every 8x8 matrix of 16-bit elements is transposed: place (i, j) of it holds what belongs at (j, i).",
        "Add `.trans` to the ldmatrix or stmatrix that is named.",
    ),
    Cause(
        "trans-extra",
        "The matrix move has one `.trans` too many",
        "Every 8x8 matrix of 16-bit elements is transposed: place (i, j) of it holds what belongs at (j, i).",
        "Take `.trans` away from the ldmatrix or stmatrix that is named.",
    ),
    Cause(
        "transposed",
        "The fragment was loaded as if its matrices were transposed",
        "Every 8x8 matrix of the operand is transposed, and no ldmatrix brought it: rows and columns are exchanged "
        "where lanes choose what they load or store.",
        "In the address, exchange the lane number's contributions to the row and to the column.",
    ),
    Cause(
        "matrices-exchanged",
        "The matrices of one move are in another order than their use",
        "Each 8x8 matrix is whole, but is where another one belongs. The row addresses of lanes 0-7, 8-15, 16-23 "
        "and 24-31 name the matrices of registers 0, 1, 2 and 3.",
        "Exchange the registers in the vector of the ldmatrix or stmatrix, or the lanes that compute row addresses.",
    ),
    Cause(
        "registers-exchanged",
        "Registers of an operand are exchanged",
        "What one register of the fragment should hold, another one holds.",
        "Write the registers of the operand in the order of the fragment: `ptxloom map` draws it.",
    ),
    Cause(
        "halves-exchanged",
        "The elements inside a register are in another order",
        "Elements that share a register are in the wrong order: the first one belongs in the lowest bits.",
        "Pack the element with the lower index into the lower bits (`mov.b32 d, {lower, upper}`; `cvt.rn.f16x2.f32 d, "
        "upper, lower`; the selector of `prmt`).",
    ),
    Cause(
        "rows-shifted",
        "Rows are offset by a constant",
        "Every row of the operand is the one a constant distance away from the right one.",
        "Take the distance out of the row index in the address that is named.",
    ),
    Cause(
        "columns-shifted",
        "Columns are offset by a constant",
        "Every column of the operand is the one a constant distance away from the right one.",
        "Take the distance out of the column index in the address that is named.",
    ),
    Cause(
        "rows-rotated",
        "Rows of a tile are rotated",
        "Row i holds row (i + r) mod n of the same tile.",
        "Take the rotation out of the row index in the address that is named.",
    ),
    Cause(
        "columns-rotated",
        "Columns of a tile are rotated",
        "Column j holds column (j + c) mod n of the same tile.",
        "Take the rotation out of the column index in the address that is named.",
    ),
    Cause(
        "rows-permuted",
        "Rows of a tile are in another order",
        "Each row of the tile is whole, and stands where another one belongs.",
        "Mend the row index in the address that is named.",
    ),
    Cause(
        "columns-permuted",
        "Columns of a tile are in another order",
        "Each column of the tile is whole, and stands where another one belongs.",
        "Mend the column index in the address that is named.",
    ),
    Cause(
        "rows-repeated",
        "Some rows of a tile stand for others too",
        "Several rows of the operand hold one and the same row of the array, and others are missing.",
        "Let the row index in the address that is named take all its values: look for a mask that is too narrow.",
    ),
    Cause(
        "columns-repeated",
        "Some columns of a tile stand for others too",
        "Several columns of the operand hold one and the same column of the array, and others are missing.",
        "Let the column index in the address that is named take all its values: look for a mask that is too narrow.",
    ),
    Cause(
        "swizzle-mismatch",
        "Writer and reader of shared memory swizzle differently",
        "Chunks of 16 bytes are whole, and in each row XORed with another number: one side swizzles and the other does "
        "not, or each in its own way.",
        "Use one swizzle on both sides; the lines of both are named.",
    ),
    Cause(
        "descriptor",
        "The matrix descriptor of a factor is wrong",
        "The tile in shared memory is right, but the product reads it differently: from another start address, with "
        "rows or groups of rows further apart or closer, or with another swizzle.",
        "Change the field that is named: the leading or stride dimension byte offset, the swizzling mode, the base "
        "offset, the start address. `ptxloom descriptor` reads, draws and makes descriptors.",
    ),
    Cause(
        "pitch-mismatch",
        "Writer and reader of a tile disagree about its pitch",
        "The further down a row is, the further off is what it holds: by a multiple of the row number.",
        "Use one pitch (or leading dimension) on both sides; the lines of both are named.",
    ),
    Cause(
        "leading-dimension",
        "The leading dimension of an array is wrong",
        "Rows start further apart, or closer, than the rows of the array do.",
        "Use the number of elements from one row of the array to the next in the address that is named.",
    ),
    Cause(
        "order-exchanged",
        "An array is read in row-major order but stored in column-major order, or the other way round",
        "The tile is the transposed one: the fast and the slow index of the array are exchanged.",
        "Exchange the two indices in the address that is named.",
    ),
    Cause(
        "k-tile-mismatch",
        "The operands of a product belong to different k",
        "Each operand is whole, but the k of `a` differs from the k of `b` by a constant: another stage of the "
        "pipeline, or another k tile, was read or written.",
        "Use the stage, or the k tile, that the other operand uses.",
    ),
    Cause(
        "k-tiles-mixed",
        "One operand holds elements of several k tiles",
        "Parts of the operand are of one k tile, parts of another: a stage was read before it was whole, or after its "
        "next use had begun, or only part of it was copied.",
        "Wait for the copy (`cp.async.wait_group`, an mbarrier) and put a barrier on both sides of the stage's use; "
        "let the copy cover the whole tile. `--checks racecheck` names the two accesses, if they race.",
    ),
    Cause(
        "k-twice",
        "Some k is multiplied twice",
        "The same elements are multiplied and added twice into one accumulator.",
        "Let the loop over k advance the addresses by what one iteration multiplies.",
    ),
    Cause(
        "k-missing",
        "Some k is never multiplied",
        "The products of some columns of A (rows of B) are missing from the sums.",
        "Let the loop over k run to its end, and advance by what one iteration multiplies.",
    ),
    Cause(
        "block-mismatch",
        "Elements go with the scale, or the zero point, of another block",
        "Each element is the right one, and what it is scaled by, or what is taken from it, belongs to another block "
        "of rows or columns: always to the first one, to blocks of another size, to the next one, to another row.",
        "In the address of the named scale, divide the row and the column of the element by the extents of a block: an "
        "array of scales has one element per block, and its shape gives the number of blocks.",
    ),
    Cause(
        "tile-exchanged",
        "Whole tiles of the result go where others belong",
        "The rows of A and the columns of B that were multiplied are not those of the place in C.",
        "Use the same tile numbers for the operands and for the store.",
    ),
    Cause(
        "other-layout",
        "The operand is in the layout of another instruction",
        "Lanes and registers hold what they would hold for another shape or another operand.",
        "Load the fragment of this instruction: `ptxloom map` draws it.",
    ),
    Cause(
        "index-overflow",
        "An index runs over",
        "From some index on, elements are those of the index less a power of two.",
        "Compute the index in a wider type: `mad.wide`, 64-bit sums, 32 bits instead of 16.",
    ),
    Cause(
        "nibbles-unshifted",
        "4-bit elements do not stand where the product reads them",
        "`.e2m1` in a byte stands in bits 2 to 5, and the registers have it in others.",
        "Shift each byte left by 2 after unpacking, or let `ldmatrix ... .b8x16.b4x16_p64` and the product's "
        "`.kind` agree.",
    ),
    Cause(
        "stored-twice",
        "Elements of the result are stored twice",
        "Several products go to one place, and only the last one stays.",
        "Mend the address of the store: tiles of different warps or CTAs must not overlap.",
    ),
    Cause(
        "added-twice",
        "What is added behind the products is added twice",
        "A vector or a matrix that should be added once to each element of the result is added to some more than once.",
        "Add it in one place: by one of the slices of k, or behind the sum of all.",
    ),
    Cause(
        "not-copied",
        "Elements are missing",
        "Places that should hold elements of the array do not hold any.",
        "Let the copy cover the whole tile, and the last, partial one.",
    ),
    Cause(
        "tail-not-masked",
        "The last, partial tile reaches beyond the array",
        "Elements behind the end of a row (or of the array) are multiplied as if they belonged to it.",
        "Fill what is beyond the end with zeros: a predicate, or the source size of `cp.async`.",
    ),
    Cause(
        "operands-exchanged",
        "A product multiplies another array than it should",
        "The operand comes from an array that belongs to the other operand, or to none.",
        "Use the pointer of the right array in the load that is named.",
    ),
    Cause(
        "wrong-comparison",
        "A comparison lets in what it should not, or keeps out what it should not",
        "Elements at an edge, of some lanes or of a step are wrong, and with another comparison all are right.",
        "Change the comparison that is named: `<` for `<=`, `>=` for `>`.",
    ),
    Cause(
        "wrong-constant",
        "A number is another than it should be",
        "With another number at the line that is named, the whole result is right.",
        "Change the number at the line that is named; where loops are unrolled, it stands in several instructions.",
    ),
    Cause(
        "wrong-operation",
        "An instruction does something else than it should",
        "With another operation of the same operands at the line that is named, the whole result is right.",
        "Change the operation at the line that is named, or the order of its operands.",
    ),
    Cause(
        "wrong-operand",
        "An instruction takes another value than it should",
        "With another register at the line that is named, the whole result is right.",
        "Use the other variable, index or stride at the line that is named.",
    ),
    Cause(
        "missing-term",
        "A term or a factor is missing",
        "With one more value added, taken away or multiplied at the line that is named, the whole result is right.",
        "Join the value that is named at that line.",
    ),
    Cause(
        "missing-barrier",
        "A barrier is missing, or not all threads reach it",
        "Accesses race, or threads wait at different places; with a barrier at the place that is named, no tool finds "
        "anything, and the whole result is right.",
        "Put `__syncthreads()` (`bar.sync`) between the two accesses, where all threads of the CTA come by.",
    ),
    Cause(
        "unknown",
        "No single change explains it",
        "A law is broken, and none of the changes that are known mends all elements.",
        "See the operand as it is beside the operand as it should be, and the instructions that brought it there.",
    ),
)

CAUSES: Final = {cause.id: cause for cause in _CAUSES}
"""Every cause by its id."""


@cache
def _examples() -> dict[str, dict[str, str]]:
    """What shows each cause; a test makes it of kernels that it runs."""
    return tomllib.loads(_EXAMPLES.read_text(encoding="utf-8"))
