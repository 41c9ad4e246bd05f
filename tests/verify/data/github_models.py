"""Models as people publish them: for the measurement of guessed inputs. Nothing here says what its inputs are."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class ModelArgs:
    dim: int = 4096
    n_layers: int = 32
    n_heads: int = 32
    vocab_size: int = 32000
    norm_eps: float = 1e-5
    max_seq_len: int = 2048


class RMSNorm(nn.Module):
    def __init__(self, dim: int, eps: float = 1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class SwiGLU(nn.Module):
    def __init__(self, dim: int, hidden_dim: int, multiple_of: int = 8):
        super().__init__()
        hidden_dim = multiple_of * ((hidden_dim + multiple_of - 1) // multiple_of)
        self.w1 = nn.Linear(dim, hidden_dim, bias=False)
        self.w2 = nn.Linear(hidden_dim, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden_dim, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class LlamaBlock(nn.Module):
    def __init__(self, layer_id: int, args: ModelArgs):
        super().__init__()
        self.n_heads = args.n_heads
        self.head_dim = args.dim // args.n_heads
        self.wqkv = nn.Linear(args.dim, 3 * args.dim, bias=False)
        self.ff = SwiGLU(args.dim, 4 * args.dim)
        self.norm = RMSNorm(args.dim, args.norm_eps)

    def forward(self, x: torch.Tensor, start_pos: int, mask: torch.Tensor | None = None):
        b, s, d = x.shape
        q, k, v = self.wqkv(self.norm(x)).chunk(3, dim=-1)
        q, k, v = (t.view(b, s, self.n_heads, self.head_dim).transpose(1, 2) for t in (q, k, v))
        return self.ff(x + F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, s, d))


class DoubleConv(nn.Module):
    def __init__(self, in_channels, out_channels, mid_channels=None):
        super().__init__()
        mid_channels = mid_channels or out_channels
        self.net = nn.Sequential(
            nn.Conv2d(in_channels, mid_channels, 3, padding=1),
            nn.BatchNorm2d(mid_channels),
            nn.ReLU(inplace=True),
            nn.Conv2d(mid_channels, out_channels, 3, padding=1),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(inplace=True),
        )

    def forward(self, x):
        return self.net(x)


class UNet(nn.Module):
    def __init__(self, n_channels, n_classes, bilinear=False):
        super().__init__()
        self.inc = DoubleConv(n_channels, 16)
        self.down = nn.MaxPool2d(2)
        self.d1 = DoubleConv(16, 32)
        self.up = nn.ConvTranspose2d(32, 16, 2, stride=2)
        self.u1 = DoubleConv(32, 16)
        self.out = nn.Conv2d(16, n_classes, 1)

    def forward(self, x):
        a = self.inc(x)
        b = self.d1(self.down(a))
        return self.out(self.u1(torch.cat([a, self.up(b)], 1)))


class LSTMTagger(nn.Module):
    def __init__(self, embedding_dim, hidden_dim, vocab_size, tagset_size):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, embedding_dim)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim, batch_first=True)
        self.out = nn.Linear(hidden_dim, tagset_size)

    def forward(self, sentence):
        h, _ = self.lstm(self.emb(sentence))
        return F.log_softmax(self.out(h), dim=-1)


class TextCNN(nn.Module):
    def __init__(self, vocab_size, embed_dim, num_classes, kernel_sizes=(3, 4, 5), num_filters=16):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.convs = nn.ModuleList([nn.Conv1d(embed_dim, num_filters, k) for k in kernel_sizes])
        self.fc = nn.Linear(num_filters * len(kernel_sizes), num_classes)

    def forward(self, text):
        x = self.embedding(text).transpose(1, 2)
        x = [F.relu(conv(x)).max(dim=2)[0] for conv in self.convs]
        return self.fc(torch.cat(x, dim=1))


class VAE(nn.Module):
    def __init__(self, input_dim=784, hidden_dim=64, latent_dim=8):
        super().__init__()
        self.enc = nn.Linear(input_dim, hidden_dim)
        self.mu = nn.Linear(hidden_dim, latent_dim)
        self.logvar = nn.Linear(hidden_dim, latent_dim)
        self.dec = nn.Sequential(nn.Linear(latent_dim, hidden_dim), nn.ReLU(), nn.Linear(hidden_dim, input_dim))

    def forward(self, x):
        h = F.relu(self.enc(x.view(-1, 784)))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return torch.sigmoid(self.dec(z)), mu, logvar


class DQN(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(state_dim, 64), nn.ReLU(), nn.Linear(64, action_dim))

    def forward(self, state):
        return self.net(state)


class NatureCNN(nn.Module):
    def __init__(self, num_actions):
        super().__init__()
        self.c1 = nn.Conv2d(4, 32, 8, stride=4)
        self.c2 = nn.Conv2d(32, 64, 4, stride=2)
        self.c3 = nn.Conv2d(64, 64, 3, stride=1)
        self.fc = nn.Linear(64 * 7 * 7, num_actions)

    def forward(self, x):
        x = F.relu(self.c3(F.relu(self.c2(F.relu(self.c1(x / 255.0))))))
        return self.fc(x.view(x.size(0), -1))


class PatchEmbed(nn.Module):
    def __init__(self, img_size=32, patch_size=8, in_chans=3, embed_dim=64):
        super().__init__()
        self.img_size = img_size
        self.proj = nn.Conv2d(in_chans, embed_dim, patch_size, patch_size)

    def forward(self, x):
        _, _, H, W = x.shape
        assert (self.img_size, self.img_size) == (H, W), f"Input size ({H}) doesn't match model ({self.img_size})"
        return self.proj(x).flatten(2).transpose(1, 2)


class CrossAttention(nn.Module):
    def __init__(self, query_dim, context_dim=None, heads=8, dim_head=64):
        super().__init__()
        inner = heads * dim_head
        self.heads = heads
        self.to_q = nn.Linear(query_dim, inner)
        self.to_kv = nn.Linear(context_dim or query_dim, 2 * inner)
        self.to_out = nn.Linear(inner, query_dim)

    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        q = self.to_q(x)
        k, v = self.to_kv(context).chunk(2, dim=-1)
        b, n, _ = q.shape
        q, k, v = (t.reshape(b, t.shape[1], self.heads, -1).transpose(1, 2) for t in (q, k, v))
        return self.to_out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, -1))


class TimestepBlock(nn.Module):
    def __init__(self, channels, emb_channels):
        super().__init__()
        self.norm = nn.GroupNorm(8, channels)
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.emb = nn.Linear(emb_channels, channels)

    def forward(self, x, emb):
        h = self.conv(F.silu(self.norm(x)))
        return x + h + self.emb(emb)[:, :, None, None]


class Seq2Seq(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, d_model=32, nhead=4):
        super().__init__()
        self.se = nn.Embedding(src_vocab, d_model)
        self.te = nn.Embedding(tgt_vocab, d_model)
        self.tf = nn.Transformer(d_model, nhead, 1, 1, 64, batch_first=True)
        self.out = nn.Linear(d_model, tgt_vocab)

    def forward(self, src, tgt):
        return self.out(self.tf(self.se(src), self.te(tgt)))


class GCNLayer(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(in_features, out_features))

    def forward(self, input, adj):
        return torch.spmm(adj, torch.mm(input, self.weight))


class PointNet(nn.Module):
    def __init__(self, num_classes=10):
        super().__init__()
        self.c1 = nn.Conv1d(3, 32, 1)
        self.b1 = nn.BatchNorm1d(32)
        self.fc = nn.Linear(32, num_classes)

    def forward(self, points):
        x = F.relu(self.b1(self.c1(points)))
        return self.fc(torch.max(x, 2)[0])


class MoE(nn.Module):
    def __init__(self, dim, num_experts, top_k=2):
        super().__init__()
        self.gate = nn.Linear(dim, num_experts)
        self.experts = nn.ModuleList(nn.Linear(dim, dim) for _ in range(num_experts))
        self.top_k = top_k

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        w, idx = self.gate(flat).softmax(-1).topk(self.top_k)
        out = torch.zeros_like(flat)
        for i, e in enumerate(self.experts):
            rows, slot = torch.where(idx == i)
            out[rows] += w[rows, slot, None] * e(flat[rows])
        return out.view_as(x)


class Discriminator(nn.Module):
    def __init__(self, nc, ndf):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(nc, ndf, 4, 2, 1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(ndf, ndf * 2, 4, 2, 1),
            nn.BatchNorm2d(ndf * 2),
            nn.Conv2d(ndf * 2, 1, 8, 1, 0),
            nn.Sigmoid(),
        )

    def forward(self, input):
        return self.main(input).view(-1, 1)


@dataclass
class MambaConfig:
    d_model: int
    d_state: int = 16
    expand: int = 2
    layers: list[int] = field(default_factory=lambda: [1, 2])


class SSM(nn.Module):
    def __init__(self, config: MambaConfig):
        super().__init__()
        inner = config.d_model * config.expand
        self.inp = nn.Linear(config.d_model, inner)
        self.A = nn.Parameter(torch.randn(inner, config.d_state))
        self.out = nn.Linear(inner, config.d_model)

    def forward(self, x):
        h = self.inp(x)
        state = torch.zeros(h.shape[0], h.shape[2], self.A.shape[1], device=x.device)
        ys = []
        for t in range(h.shape[1]):
            state = state * torch.sigmoid(self.A) + h[:, t, :, None]
            ys.append(state.sum(-1))
        return self.out(torch.stack(ys, 1))


class Fusion(nn.Module):
    def __init__(self, text_dim, image_dim, out_dim):
        super().__init__()
        self.t = nn.Linear(text_dim, out_dim)
        self.i = nn.Conv2d(3, image_dim, 3)
        self.o = nn.Linear(out_dim + image_dim, 2)

    def forward(self, text_features, image):
        i = self.i(image).mean((2, 3))
        return self.o(torch.cat([self.t(text_features).mean(1), i], 1))


class Loss(nn.Module):
    def __init__(self, alpha=0.25, gamma=2.0):
        super().__init__()
        self.alpha, self.gamma = alpha, gamma

    def forward(self, logits, targets):
        ce = F.cross_entropy(logits, targets, reduction="none")
        return (self.alpha * (1 - torch.exp(-ce)) ** self.gamma * ce).mean()
