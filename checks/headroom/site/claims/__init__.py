"""Pages about claims: each claim, their index, hardware classes and the harness; badges and sentences about them."""
