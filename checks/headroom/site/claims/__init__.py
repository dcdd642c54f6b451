"""Claims as a reader meets them: their pages, badges and words, their index, and the pages on classes and harness."""
