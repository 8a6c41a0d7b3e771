<span class="badge {{row['badge']['style']}}"><span aria-hidden="true">{{row["badge"]["icon"]}}</span> {{row["badge"]["word"]}}</span>
% if row["enabled"]:
<span>since <time datetime="{{format_iso(row['since'])}}">{{readable(row["since"])}}</time></span>
% if row["state"] != "ok":
<span class="muted"><bdi>{{row["reason"]}}</bdi></span>
% end
% end
