<span class="badge {{row['badge']['style']}}"><span aria-hidden="true">{{row["badge"]["icon"]}}</span> {{row["badge"]["word"]}}</span>
% if row["enabled"]:
<span>since
% include("partials/time.tpl", at=row["since"])
</span>
<span class="muted"><bdi>{{row["reason"]}}</bdi></span>
% end
