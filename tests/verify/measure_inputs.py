#!/usr/bin/env python3
"""How many real modules run on guessed inputs alone.

    python tests/verify/measure_inputs.py [--python PYTHON] [--jobs N]

The models of `data/github_models.py`, 20 blocks of timm and 20 modules of transformers, as far as PYTHON has them.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parent)]

from verify_helpers import finding_on  # noqa: E402

from tclint.model.finding import Finding  # noqa: E402
from tclint.verify import Outcome, VerifyOptions, verify  # noqa: E402

TIMM = {
    "timm/models/vision_transformer.py": ("Block", "ParallelScalingBlock", "ResPostBlock"),
    "timm/layers/attention.py": ("Attention",),
    "timm/models/convnext.py": ("ConvNeXtBlock", "ConvNeXtStage"),
    "timm/models/resnet.py": ("BasicBlock", "Bottleneck"),
    "timm/models/swin_transformer.py": ("SwinTransformerBlock", "PatchMerging"),
    "timm/layers/mlp.py": ("Mlp", "SwiGLU", "ConvMlp"),
    "timm/layers/squeeze_excite.py": ("SEModule",),
    "timm/layers/cbam.py": ("CbamModule",),
    "timm/layers/patch_embed.py": ("PatchEmbed",),
    "timm/models/_efficientnet_blocks.py": ("InvertedResidual", "DepthwiseSeparableConv"),
    "timm/models/mlp_mixer.py": ("MixerBlock",),
    "timm/models/densenet.py": ("DenseNet",),
}
TRANSFORMERS = {
    "transformers/models/llama/modeling_llama.py": ("LlamaMLP", "LlamaRMSNorm", "LlamaModel", "LlamaDecoderLayer"),
    "transformers/models/bert/modeling_bert.py": ("BertModel", "BertEmbeddings", "BertLayer", "BertForMaskedLM"),
    "transformers/models/gpt2/modeling_gpt2.py": ("GPT2Model", "GPT2MLP", "GPT2Block"),
    "transformers/models/vit/modeling_vit.py": ("ViTModel", "ViTLayer"),
    "transformers/models/t5/modeling_t5.py": ("T5Model", "T5LayerFF"),
    "transformers/models/mixtral/modeling_mixtral.py": ("MixtralSparseMoeBlock",),
    "transformers/models/whisper/modeling_whisper.py": ("WhisperEncoderLayer",),
    "transformers/models/clip/modeling_clip.py": ("CLIPModel", "CLIPMLP"),
    "transformers/models/qwen2/modeling_qwen2.py": ("Qwen2ForCausalLM",),
}
OWN = Path(__file__).parent / "data" / "github_models.py"


def findings_in(root: Path, path: str, names: tuple[str, ...]) -> list[Finding]:
    """One finding at the start of each forward."""
    found = []
    for node in ast.parse((root / path).read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.ClassDef) or (names and node.name not in names):
            continue
        for part in node.body:
            if isinstance(part, ast.FunctionDef) and part.name == "forward":
                found.append(finding_on(path, part.body[-1].lineno, function=f"{node.name}.forward"))
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(subprocess.run([options.python, "-c", code], capture_output=True, text=True, check=True).stdout.strip())
    groups = {
        "github": (OWN.parent, findings_in(OWN.parent, OWN.name, ())),
        "timm": (
            site,
            [f for path, names in TIMM.items() if (site / path).is_file() for f in findings_in(site, path, names)],
        ),
        "transformers": (
            site,
            [
                f
                for path, names in TRANSFORMERS.items()
                if (site / path).is_file()
                for f in findings_in(site, path, names)
            ],
        ),
    }
    total = ran = 0
    for group, (root, findings) in groups.items():
        if not findings or options.only not in group:
            continue
        start = time.monotonic()
        settings = VerifyOptions(timeout=120, jobs=options.jobs, python=options.python, root=str(root))
        verdicts = verify(findings, settings).verdicts
        good = [verdict for verdict in verdicts if verdict.outcome is not Outcome.INCONCLUSIVE]
        print(f"{group}: {len(good)} of {len(verdicts)} ran without help, {time.monotonic() - start:.0f} s")
        for verdict in verdicts:
            if verdict.outcome is Outcome.INCONCLUSIVE:
                print(f"  {verdict.finding.function}: {verdict.words[:200]} | {verdict.hint[:260]}")
        total += len(verdicts)
        ran += len(good)
    print(f"together {ran} of {total} ({ran / max(1, total):.0%})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
