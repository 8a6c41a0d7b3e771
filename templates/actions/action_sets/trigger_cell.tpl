% if row["schedule_text"]:
{{row["schedule_text"]}}
% if row["is_done"]:
<span class="tag">done</span>
% elif row["enabled"] and row["due_at"]:
<span class="muted">next
% include("partials/time.tpl", at=row["due_at"])
</span>
% end
% elif row["source"]:
<a href="{{url('/admin/signals', row['endpoint_id'], 'log')}}">{{row["source"]}}</a> receives {{"a signal where" if row["filter_texts"] else "any signal"}}
% else:
<span class="tag broken">No signal endpoint</span> The endpoint was deleted.
% end
<bdi>{{" and ".join(row["filter_texts"])}}</bdi>
