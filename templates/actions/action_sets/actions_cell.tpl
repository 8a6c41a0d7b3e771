<bdi>{{", then ".join(row["action_texts"])}}</bdi>
% if row["option_texts"]:
<span class="muted">· <bdi>{{" · ".join(row["option_texts"])}}</bdi></span>
% end
% if not row["account"]:
<span class="tag broken">No service account</span> Runs fail until you choose one.
% elif row["account"]["role"] == "Viewer":
as <a href="{{url('/admin/service-accounts', row['actor_id'])}}"><bdi>{{row["account"]["username"]}}</bdi></a>
<span class="tag broken">Viewer</span> It can't change flags.
% else:
as <a href="{{url('/admin/service-accounts', row['actor_id'])}}"><bdi>{{row["account"]["username"]}}</bdi></a>
% end
