"""A teacher follows the student in place; both have the same structure."""
import copy
import torch
import torch.nn as nn


def make_model():
    student = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    teacher = copy.deepcopy(student).requires_grad_(False)
    fast_teacher = torch.compile(teacher)

    def step(x):
        target = fast_teacher(x)
        loss = (student(x) - target).pow(2).mean()
        loss.backward()
        with torch.no_grad():
            for t, s in zip(teacher.parameters(), student.parameters()):
                t.lerp_(s, 0.01)
        return loss
    return step


def batches():
    return [(torch.randn(4, 8),) for _ in range(5)]


def main():
    step = make_model()
    for batch in batches():
        step(*batch)


if __name__ == "__main__":
    main()
