<h1><bdi>{{endpoint["name"]}}</bdi>\\
% if not endpoint["enabled"]:
 <span class="tag">disabled</span>\\
% end
</h1>
<p class="actions"><a href="{{url('/admin/alert-rules/new')}}?silence={{endpoint['id']}}">New rule for silence</a></p>
% include("partials/tabs.tpl", name="Signal endpoint")
