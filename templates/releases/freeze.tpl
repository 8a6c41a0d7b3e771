% if freeze.frozen:
<p class="problem" role="status">Releases are frozen: none starts or advances, guards still act.
% if freeze.reason:
<bdi>{{freeze.reason}}</bdi>
% end
</p>
% end
