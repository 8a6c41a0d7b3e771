"""The stages of clients that stream; tests/routes/test_stream_offers.py has those of requests."""

from sigservice.delivery.stream_trials import Kind, StreamClients


def test_the_clients_that_changed_last_are_kept(clock):
    clients = StreamClients(clock, capacity=2)
    for id in ("a", "b", "c"):
        clients.must_ask(id, is_current=False, is_outdated=False)
    kinds = [clients.choose_kind(id) for id in ("a", "b", "c")]
    assert kinds == [Kind.ENDLESS, Kind.TRIAL, Kind.TRIAL]
