% if notifications:
<section>
<h2>Last notifications</h2>
<ul class="checks">
% for notification in notifications:
<li>
% include("partials/time.tpl", at=notification["created_at"])
<strong>{{notification["change"]}}</strong> to <bdi>{{notification["channel"]}}</bdi>: {{notification["state"]}}
% if notification["last_error"]:
<span class="muted"><bdi>{{notification["last_error"]}}</bdi></span>
% end
</li>
% end
</ul>
</section>
% end
