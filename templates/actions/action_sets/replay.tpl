<section id="replay" class="empty" aria-live="polite">
<h2>Replay</h2>
% if replay is None:
<p class="hint">Choose an endpoint and complete the filters to see which of its latest signals match.</p>
% elif not replay.signals:
<p class="hint">No signal received yet.</p>
% else:
<p>Of the last {{replay.signals}} signals, <strong>{{replay.matches}}</strong> match and <strong>{{replay.resolving}}</strong> resolve an alert.</p>
% if replay.examples:
<ul>
% for item in replay.examples:
<li>
% include("partials/time.tpl", at=item.created_at)
<a href="{{url('/admin/signals', replay.endpoint_id, 'log', item.id)}}"><bdi>{{item.text}}</bdi><span class="hidden"> (signal {{item.id}})</span></a>
% if would:
→ would <bdi>{{would}}</bdi>
% end
</li>
% end
</ul>
% end
% if replay.matches > len(replay.examples):
<p class="hint">and {{replay.matches - len(replay.examples)}} more</p>
% end
% end
</section>
