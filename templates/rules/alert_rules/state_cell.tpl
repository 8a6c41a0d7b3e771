<span class="tag {{row['badge']['style']}}"><span aria-hidden="true">{{row["badge"]["icon"]}}</span> {{row["badge"]["word"]}}</span>
% if row["enabled"]:
% include("partials/time.tpl", at=row["since"], time_form="for")
% if row["state"] != "ok":
<span class="muted"><bdi>{{row["reason"]}}</bdi></span>
% end
% end
