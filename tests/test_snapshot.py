import random

import torch
from torch import nn

from pcbench import snapshot


def test_weights_buffers_gradients_flags_and_random_states_are_put_back() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout())
    x = torch.randn(8, 4, requires_grad=True)
    model(x).sum().backward()
    state = {name: value.clone() for name, value in model.state_dict().items()}
    grads = {name: p.grad for name, p in model.named_parameters()}
    values = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    random_before = torch.get_rng_state(), random.getstate()

    with snapshot.preserved(model, x):
        model.eval()
        model.train()
        model(x).sum().backward()
        torch.optim.SGD(model.parameters(), lr=0.1).step()
        random.random()
        model[1].eval()

    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    assert all(p.grad is grads[name] for name, p in model.named_parameters())
    assert all(torch.equal(p.grad, values[name]) for name, p in model.named_parameters() if p.grad is not None)
    assert all(module.training for module in model.modules())
    assert torch.equal(torch.get_rng_state(), random_before[0])
    assert random.getstate() == random_before[1]


def test_the_body_sees_no_old_gradients() -> None:
    model = nn.Linear(2, 2)
    model(torch.ones(1, 2)).sum().backward()

    with snapshot.preserved(model):
        assert model.weight.grad is None
    assert model.weight.grad is not None


def test_identities_stay_and_untouched_tensors_are_not_written() -> None:
    model = nn.Linear(2, 2)
    weight, version = model.weight, model.weight._version

    with snapshot.preserved(model), torch.no_grad():
        model.bias.add_(1)

    assert model.weight is weight
    assert model.weight._version == version


def test_everything_is_put_back_when_the_body_raises() -> None:
    model = nn.BatchNorm1d(3)
    before = model.running_mean.clone() if model.running_mean is not None else None

    try:
        with snapshot.preserved(model):
            model(torch.randn(8, 3))
            raise ArithmeticError
    except ArithmeticError:
        pass

    assert before is not None
    assert model.running_mean is not None
    assert torch.equal(model.running_mean, before)


def test_reassigned_buffers_flags_of_gradients_and_modules_in_a_list_are_put_back() -> None:
    model = nn.Module()
    model.register_buffer("count", torch.zeros(1))
    model.weight = nn.Parameter(torch.ones(1))
    count = model.get_buffer("count")

    with snapshot.preserved([model]):
        model.count = torch.ones(1)
        model.weight.requires_grad_(False)

    assert model.get_buffer("count") is count
    assert torch.equal(count, torch.zeros(1))
    assert model.weight.requires_grad


def test_sparse_and_meta_tensors_are_let_through() -> None:
    with snapshot.preserved(torch.ones(2).to_sparse(), torch.ones(2, device="meta")):
        pass


def test_inference_tensors_are_put_back() -> None:
    with torch.inference_mode():
        x = torch.ones(3)
        with snapshot.preserved(x):
            x.add_(1)

        assert torch.equal(x, torch.ones(3))


def test_what_is_not_a_number_and_did_not_change_is_not_touched() -> None:
    nan = torch.full((2,), float("nan"))
    model = nn.BatchNorm1d(2)
    model.running_mean.fill_(float("nan"))
    versions = nan._version, model.running_mean._version
    with snapshot.preserved([model], nan, torch.tensor([float("nan")]).expand(3)):
        pass

    assert (nan._version, model.running_mean._version) == versions
