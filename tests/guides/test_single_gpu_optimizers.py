"""The single-GPU guide's worked problems on low-memory optimizers, and its table of state bytes, computed."""

import re
from collections.abc import Iterable

from worked_problems import GIB, answers, gib, guide, problem

PAGE = "training/single-gpu.md"
RANK = 128
SMALL = 4096  # tensors with fewer numbers keep fp32 states
EIGHT = 1 + 4 / 256  # a byte a number, and an fp32 magnitude for each block of 256
Matrix = tuple[int, int]


class Model:
    """How many numbers a model has in its embeddings, the matrices of its blocks, and its vectors."""

    def __init__(self, tables: list[Matrix], matrices: Iterable[Matrix], vectors: Iterable[int]) -> None:
        self.tables = tables  # the embeddings
        self.embeddings = sum(rows * columns for rows, columns in tables)
        self.matrices = list(matrices)
        self.inner = sum(rows * columns for rows, columns in self.matrices)
        self.vectors = list(vectors)
        self.parameters = self.embeddings + self.inner + sum(self.vectors)

    def rounded(self, states: int, *, embeddings: bool) -> float:
        """Bytes of so many 8-bit states."""
        assert all(size < SMALL for size in self.vectors)
        of_embeddings = states * self.embeddings * (EIGHT if embeddings else 4)
        return of_embeddings + states * (self.inner * EIGHT + sum(self.vectors) * 4)

    def adamw_but(self, inner: float) -> float:
        """Bytes where the blocks' matrices have other states than AdamW's."""
        return 8 * (self.parameters - self.inner) + inner

    def rows_and_columns(self) -> float:
        """Bytes of Adafactor's states: one number a row and a column of a matrix, and one for each of a vector."""
        return 4 * (sum(rows + columns for rows, columns in self.tables + self.matrices) + sum(self.vectors))

    def low_rank(self, *, whole_basis: bool) -> float:
        """Bytes of AdamW's states in a low rank, with the projection, or all singular vectors that it is a slice of."""
        each = (low_rank(rows, columns, whole_basis=whole_basis) for rows, columns in self.matrices)
        return self.adamw_but(sum(each))


def low_rank(rows: int, columns: int, *, whole_basis: bool) -> int:
    """Bytes of two low-rank states of one fp32 matrix and of its projection."""
    short, long = sorted((rows, columns))
    return 4 * (2 * RANK * long + short * (short if whole_basis else RANK))


def gpt2() -> Model:
    """GPT-2 with its 124,439,808 parameters."""
    width, layers = 768, 12
    matrices = [(width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)]
    vectors = [3 * width, width, 4 * width, width, width, width, width, width]
    return Model([(50_257, width), (1024, width)], matrices * layers, [*vectors * layers, width, width])


def llama() -> Model:
    """Llama 3.2 1B, whose embedding is tied."""
    width, inner, layers, kv = 2048, 8192, 16, 512
    matrices = [(width, width)] * 2 + [(kv, width)] * 2 + [(inner, width)] * 3
    return Model([(128_256, width)], matrices * layers, [width] * (2 * layers + 1))


class TestOptimizers:
    def test_table_of_state_bytes(self) -> None:
        """GPT-2's bytes a parameter, row by row."""
        model = gpt2()
        assert model.parameters == 124_439_808
        states = [
            8 * model.parameters,
            model.rounded(2, embeddings=True),
            model.rounded(2, embeddings=False),
            model.rows_and_columns(),
            4 * model.parameters,
            4 * model.parameters,
            model.rounded(1, embeddings=True),
            model.rounded(1, embeddings=False),
            model.adamw_but(4 * model.inner),
            8 * model.parameters,
            model.low_rank(whole_basis=True),
            model.low_rank(whole_basis=False),
            0,
            model.rows_and_columns(),
        ]
        text = guide(PAGE)
        table = text.partition("| flag of the Trainer |")[2].partition("\n\n")[0]
        printed = [row.split("|")[3].strip() for row in table.splitlines()[2:]]
        assert printed == [f"{size / model.parameters:.2f}" for size in states]
        prose = " ".join(text.split())
        assert f"are {model.embeddings / model.parameters:.0%}".replace("%", " %") + " of the parameters" in prose
        assert re.search(rf"so it has {states[2] / model.parameters:.2f} bytes a parameter", prose)
        assert f"12 bytes, or {3 * EIGHT:.2f}" in prose

    def test_which_optimizer_fits(self) -> None:
        """The end of backward: weights, gradients, states, and two more copies of the embedding."""
        model = llama()
        assert model.parameters == 1_235_814_400
        small, large = 14.5 * GIB, 22 * GIB

        def peak(states: float) -> float:
            return 8 * model.parameters + states + 2 * 4 * model.embeddings

        def a_parameter(states: float) -> str:
            return f"{states / model.parameters:.2f}"

        fused = peak(8 * model.parameters)
        exempt, rounded = (model.rounded(2, embeddings=embeddings) for embeddings in (False, True))
        lion, lion_8 = 4 * model.parameters, model.rounded(1, embeddings=False)
        muon = model.adamw_but(4 * model.inner)
        galore, apollo = (model.low_rank(whole_basis=whole) for whole in (True, False))
        assert answers(problem(PAGE, "Llama 3.2 1B in fp32.")) == [
            gib(fused),
            a_parameter(exempt), gib(peak(exempt)),
            a_parameter(rounded), gib(peak(rounded)),
            gib(peak(lion)), gib(peak(lion_8)),
            a_parameter(muon), gib(peak(muon)),
            a_parameter(galore), gib(peak(galore)), a_parameter(apollo), gib(peak(apollo)),
            gib(small - peak(rounded)),
        ]  # fmt: skip
        said = " ".join(problem(PAGE, "Llama 3.2 1B in fp32.").split())
        for words, states in (
            ("AdamW, fused: 8 bytes", 8 * model.parameters),
            (f"AdamW, 8-bit, by the Trainer: **{a_parameter(exempt)}** bytes", exempt),
            (f"AdamW, 8-bit, embedding too: **{a_parameter(rounded)}** bytes", rounded),
            ("Lion: 4 bytes", lion),
            ("In 8 bits by the Trainer", lion_8),
            (f"Muon for the blocks: **{a_parameter(muon)}** bytes", muon),
            (f"GaLore, rank 128: **{a_parameter(galore)}** bytes", galore),
            (f"APOLLO, rank 128: **{a_parameter(apollo)}** bytes", apollo),
        ):
            assert peak(states) < large
            fits = "Both" if peak(states) < small else "Only 24 GB"
            assert re.search(rf"{re.escape(words)}[,:] \*\*{gib(peak(states))}\*\*\. {fits}\.", said), words

    def test_share_of_galore(self) -> None:
        """One matrix: AdamW's states, GaLore's, and GaLore's with all singular vectors."""
        adamw = 2 * 4 * 768 * 3072
        slim, whole = (low_rank(768, 3072, whole_basis=basis) for basis in (False, True))
        expected = [f"{adamw / 2**20:.1f} MiB"]
        for size in (slim, whole):
            expected += [f"{size / 2**20:.1f} MiB", f"{100 * size / adamw:.0f} %"]
        assert answers(problem(PAGE, "GaLore of rank 128")) == expected
