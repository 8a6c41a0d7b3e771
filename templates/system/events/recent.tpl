% if not changes:
<p class="empty">No changes yet.</p>
% else:
<ul class="rows">
% for event in changes:
<li>
% include("partials/time.tpl", at=event["created_at"])
% include("system/events/sentence.tpl", event=event)
% include("system/events/origin.tpl", event=event)
</li>
% end
</ul>
% end
