% if judged.waits:
<p class="muted">Not judged yet: load the page again.</p>
% end
% if judged.outcomes:
<ul class="checks">
% for one in judged.outcomes:
% at = "/admin/projects/%s/actions/%s" % (one.project, one.set_id)
<li>
% if one.project and one.exists:
<a href="{{url(at)}}"><bdi>{{one.name}}</bdi><span class="hidden"> in {{one.project}}</span></a>:
% else:
<bdi>{{one.name}}</bdi>:
% end
<strong class="verdict {{'yes' if one.state == 'success' else 'no' if one.state == 'failed' else ''}}">{{one.words}}</strong>
% if one.run_id:
<a href="{{url('%s/runs/%d' % (at, one.run_id))}}">Run {{one.run_id}}</a>
% end
% if one.why:
<span class="muted"><bdi>{{one.why}}</bdi></span>
% end
</li>
% end
</ul>
% end
