"""The answers of the worked problems on measuring, computed."""

from worked_problems import answers, problem

PAGE = "concepts/measuring-performance.md"


class TestMeasuring:
    def test_how_far_warming_up_leads_astray(self) -> None:
        """Twenty steps at 2 % each."""
        assert answers(problem(PAGE, "how far does warming up")) == [f"{1.02**20:.2f}"]

    def test_model_flops_utilisation(self) -> None:
        """Six operations a parameter and token, over the peak rate."""
        done = 6 * 1_235_814_400 * 30_000
        attention = 12 * 16 * 2048 * 2048 * 30_000
        assert answers(problem(PAGE, "1.24 billion parameters")) == [
            f"{done / 1e14:.2f} × 10¹⁴",
            f"{done / 989e12:.1%}".replace("%", " %"),
            f"{(done + attention) / 989e12:.1%}".replace("%", " %"),
        ]
