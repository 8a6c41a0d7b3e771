% if row["tokens"]:
% include("signals/silence/badge.tpl", silence=row["silence"])
% else:
<a href="{{url('/admin/signals', row['id'], 'tokens')}}">Create a token<span class="hidden"> for {{row["name"]}}</span></a>
% end
