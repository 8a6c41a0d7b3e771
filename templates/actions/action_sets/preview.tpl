<section id="preview" aria-live="polite">
% if preview is None:
<p class="hint">Choose an endpoint and complete what the alert has to see which of the last 48 h match.</p>
% else:
<h2>The last 48 h: would {{"never have acted" if not preview.matches else "have acted " + plural(preview.matches, "time")}}</h2>
% if not preview.signals:
<p class="hint">Nothing has arrived yet.</p>
% end
% if preview.examples:
<ul>
% for item in preview.examples:
<li>
% include("partials/time.tpl", at=item.created_at)
<a href="{{url('/admin/signals', preview.endpoint_id, 'log', item.id)}}"><bdi>{{item.text}}</bdi><span class="hidden"> (signal {{item.id}})</span></a>
</li>
% end
</ul>
% end
% if preview.matches > len(preview.examples):
<p class="hint">and {{preview.matches - len(preview.examples)}} more</p>
% end
% end
</section>
