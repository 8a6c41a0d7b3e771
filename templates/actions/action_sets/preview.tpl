<section id="preview" class="empty" aria-live="polite">
<h2>Preview</h2>
% if preview is None:
<p class="hint">Choose an endpoint and complete the filters to see which of its latest signals match.</p>
% elif not preview.signals:
<p class="hint">No signal received yet.</p>
% else:
<p>Of the last {{preview.signals}} signals, <strong>{{preview.matches}}</strong> match and <strong>{{preview.resolving}}</strong> resolve an alert.</p>
% if preview.examples:
<ul>
% for item in preview.examples:
<li>
% include("partials/time.tpl", at=item.created_at)
<a href="{{url('/admin/signals', preview.endpoint_id, 'log', item.id)}}"><bdi>{{item.text}}</bdi><span class="hidden"> (signal {{item.id}})</span></a>
% if would:
→ would <bdi>{{would}}</bdi>
% end
</li>
% end
</ul>
% end
% if preview.matches > len(preview.examples):
<p class="hint">and {{preview.matches - len(preview.examples)}} more</p>
% end
% end
</section>
