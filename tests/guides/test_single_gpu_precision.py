"""The answers of the single-GPU guide's worked problems on number formats, computed."""

import numpy as np

from worked_problems import GIB, answers, gib, problem

PAGE = "training/single-gpu.md"


def rounded(value: float, dropped: int) -> float:
    """An fp32 number without its last digits, to nearest and ties to even: 16 are dropped for bf16, 13 for TF32."""
    bits = int(np.float32(value).view(np.uint32))
    bits += (1 << (dropped - 1)) - 1 + (bits >> dropped & 1)
    return float(np.uint32(bits >> dropped << dropped).view(np.float32))


def e4m3(value: float) -> float:
    """A number of e4m3's normal range, rounded to four significant binary digits."""
    gap = 2.0 ** (np.floor(np.log2(value)) - 3)
    return float(np.round(value / gap) * gap)


class TestMixedPrecision:
    def test_what_the_first_loss_scale_lifts(self) -> None:
        """The scale's two ends, and that of half the scale."""
        end, scale = 65_520, 2**16
        with np.errstate(over="ignore"):
            assert np.isinf(np.float16(end))
        assert np.float16(65_519) == 65_504
        assert np.float16(2.0**-25) == 0 < np.float16(2.0**-25 * 1.01)
        assert answers(problem(PAGE, "how large a gradient")) == [
            f"{end / scale:.5f}",
            f"{scale // 2:,}",
            f"{2 * end / scale:.4f}",
            f"{2.0**-25 / scale:.1e}",
        ]


class TestTf32:
    def test_a_product(self) -> None:
        """Inputs rounded to 10 and to 7 digits after the first, and a product of them in fp32."""
        found = answers(problem(PAGE, "what is 1.0004"))
        a, b = 1.0004, 10_000.0
        products = [
            rounded(a, 13) * rounded(b, 13),
            float(np.float32(a) * np.float32(b)),
            rounded(a, 16) * rounded(b, 16),
        ]
        assert rounded(1 + 2.0**-10, 13) == 1 + 2.0**-10
        assert found == [str(1 + 2.0**-10), *(f"{product:.5g}" for product in products)]

    def test_errors_of_random_products(self) -> None:
        """A product of random numbers is off by what the text says."""
        a, b = np.random.default_rng(0).standard_normal((2, 256, 256)).astype(np.float32)
        exact = a.astype(np.float64) @ b.astype(np.float64)

        def error(dropped: int) -> float:
            one, other = (np.vectorize(rounded)(matrix, dropped) for matrix in (a, b))
            return float(np.linalg.norm(one @ other - exact) / np.linalg.norm(exact))

        assert 2.5e-4 < error(13) < 3.5e-4
        assert 1.5e-3 < error(16) < 2.5e-3  # "2e-3"
        fp32 = [
            np.linalg.norm(a[:, :n] @ b[:n] - a[:, :n].astype(np.float64) @ b[:n]) / n**0.5 / 256 for n in (16, 256)
        ]
        assert 1e-7 < fp32[1] < 5e-7
        assert fp32[0] < fp32[1]


class TestPureBf16:
    def test_which_weights_never_change(self) -> None:
        """The smallest power of two next to which half of the gap is more than the update."""

        def safe_from(update: float) -> float:
            powers = [2.0**k for k in range(-30, 4)]
            stays = [low for low in powers if rounded(1.5 * low + update, 16) == 1.5 * low]
            assert stays == powers[powers.index(stays[0]) :]
            return stays[0]

        longest = (1 - 0.9) / (1 - 0.999) ** 0.5
        needed = 2.0 ** (np.floor(np.log2(0.02)) - 8)
        near = rounded(0.02, 16)
        assert rounded(near + 0.99 * needed, 16) == near < rounded(near + 1.01 * needed, 16)
        assert answers(problem(PAGE, "which bf16 weights")) == [
            str(safe_from(1e-5)),
            str(safe_from(1e-3)),
            f"{longest:.1f}",
            str(safe_from(longest * 1e-5)),
            f"{needed:.1e}",
        ]

    def test_the_mean_of_stochastic_rounding(self) -> None:
        """1e-5 is a sixth of the gap between 1/128 and 1/64, as the text says."""
        assert round(2.0**-14 / 1e-5) == 6

    def test_does_it_fit_16_gb(self) -> None:
        """Bytes a parameter of each way, and two more copies of the embedding at the end of backward."""
        parameters, embedding, card = 1_235_814_400, 128_256 * 2048, 16e9
        copies = 2 * 2 * embedding
        assert 10 * parameters + copies < card < 16 * parameters
        assert answers(problem(PAGE, "16 GB, 1.24 billion parameters. Does pure bf16 fit")) == [
            gib(16 * parameters),
            gib(8 * parameters),
            gib(8 * parameters + copies),
            gib(10 * parameters),
            gib(10 * parameters + copies),
            gib(16 * parameters),
        ]


class TestFp8:
    def test_a_one_beside_a_twenty(self) -> None:
        """Scaled to the end of e4m3, rounded, and scaled back."""
        scale = 448 / 20
        assert e4m3(448) == 448
        assert answers(problem(PAGE, "the largest number of a tensor is 20")) == [
            f"{scale:.1f}",
            f"{2.0 ** (np.floor(np.log2(scale)) - 3):g}",
            f"{e4m3(scale):g}",
            f"{e4m3(scale) / scale:.3f}",
        ]


class TestFullEvaluation:
    def test_seven_billion_parameters(self) -> None:
        """4, 6 and 2 bytes a parameter against the card."""
        parameters, card = 7_000_000_000, 24e9
        assert 2 * parameters < card < 4 * parameters
        assert answers(problem(PAGE, "7 billion parameters, evaluated")) == [
            gib(4 * parameters),
            gib(6 * parameters),
            gib(2 * parameters),
            f"{card / GIB:.1f} GiB",
        ]
