import torch


@torch.compile
def rk2(x, v, dt):
    a = -x
    xm = x + 0.5 * dt * v
    vm = v + 0.5 * dt * a
    return x + dt * vm, v - dt * xm


def simulate(t_end):
    x, v = torch.ones(4), torch.zeros(4)
    t, dt = 0.0, 0.1
    while t < t_end:
        x, v = rk2(x, v, dt)
        t += dt
        dt *= 1.2
    return x


simulate(2.0)
