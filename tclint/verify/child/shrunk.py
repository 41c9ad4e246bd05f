"""Configs of Hugging Face models with small numbers in them."""

from __future__ import annotations

from typing import Any

_SMALL: dict[str, Any] = {
    "num_hidden_layers": 2, "num_layers": 2, "n_layer": 2, "n_layers": 2, "encoder_layers": 2, "decoder_layers": 2,
    "num_encoder_layers": 2, "num_decoder_layers": 2, "depth": 2,
    "hidden_size": 32, "d_model": 32, "n_embd": 32, "dim": 32, "embed_dim": 32, "embedding_size": 32, "hidden_dim": 32,
    "num_attention_heads": 4, "n_head": 4, "n_heads": 4, "num_heads": 4, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "d_kv": 8, "attention_head_size": 8,
    "intermediate_size": 64, "ffn_dim": 64, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "d_ff": 64, "n_inner": 64,
    "vocab_size": 128, "max_position_embeddings": 128, "n_positions": 128, "image_size": 32, "patch_size": 8,
    "num_local_experts": 4, "num_experts": 4, "n_routed_experts": 4, "num_experts_per_tok": 2,
    "moe_intermediate_size": 32,
    "q_lora_rank": 16, "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 8,
    "conv_dim": (32, 32), "conv_stride": (2, 2), "conv_kernel": (3, 3), "num_conv_pos_embeddings": 16,
    "num_conv_pos_embedding_groups": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
    "decoder_start_token_id": 1, "sliding_window": 64, "num_mel_bins": 16, "max_source_positions": 64,
    "max_target_positions": 64,
}  # fmt: skip
_FEWER = ("num_hidden_layers", "num_layers", "n_layer", "n_layers", "encoder_layers", "decoder_layers")


def is_config(wanted: Any) -> bool:
    return isinstance(wanted, type) and any(
        base.__name__ in ("PretrainedConfig", "PreTrainedConfig") for base in wanted.__mro__
    )


def shrunk(config_class: Any, level: int = 0) -> Any:
    """A small config: with every size that it knows made small; failing that, only its depth."""
    base = config_class()
    known = {name: value for name, value in _SMALL.items() if getattr(base, name, None) is not None}
    for names in (known, {name: value for name, value in known.items() if name in _FEWER}, {}):
        given = dict(names)
        layers = given.get("num_hidden_layers")
        kinds = getattr(base, "layer_types", None)
        if layers and isinstance(kinds, list) and kinds:
            # Keep one layer of each kind the model mixes.
            mixed = list(dict.fromkeys(kinds))
            given["layer_types"] = (mixed + [kinds[0]] * layers)[: max(layers, len(mixed))]
            given["num_hidden_layers"] = len(given["layer_types"])
        for name in getattr(base, "sub_configs", None) or ():
            part = getattr(base, name, None)
            if part is not None and level < 2:
                given[name] = shrunk(type(part), level + 1)
        try:
            config = config_class(**given)
        except Exception:
            # Sizes that contradict each other in this config: shrink less.
            continue
        if getattr(config, "_attn_implementation", None) is None:
            config._attn_implementation = "sdpa"
        return config
    return base


def shrunk_plainly(config_class: Any) -> Any:
    """A small config for models that know no attention but their own."""
    config = shrunk(config_class)
    config._attn_implementation = "eager"
    return config
