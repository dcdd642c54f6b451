# /// script
# requires-python = ">=3.11"
# dependencies = ["torch"]
#
# [tool.headroom]
# needs = ["cuda:2"]
# timeout = 120
# launch = "torchrun --nproc-per-node 2"
# datasets = ["Salesforce/wikitext"]
# no_ablation = "it has no technique to take out"
# ///
"""Two processes each have a rank."""

import os

assert os.environ["RANK"] in {"0", "1"}
