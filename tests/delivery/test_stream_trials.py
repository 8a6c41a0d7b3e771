"""The stages of clients that stream; tests/routes/test_stream_offers.py has those of requests."""

from sigservice.delivery.stream_trials import StreamClients


def test_the_clients_that_changed_last_are_kept(clock):
    clients = StreamClients(clock, capacity=2)
    for id in ("a", "b", "c"):
        clients.must_ask(id, is_current=False, is_outdated=False)
    assert [clients.needs_trial(id) for id in ("a", "b", "c")] == [False, True, True]
