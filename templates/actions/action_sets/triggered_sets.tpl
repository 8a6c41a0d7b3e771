<ul>
% for one in triggered_sets:
<li><a href="{{url('/admin/projects/%s/actions/%d' % (one['project'], one['id']))}}"><bdi>{{one["name"]}}</bdi><span class="hidden"> in {{one["project"]}}</span></a>
% if not one["enabled"]:
<span class="badge">off</span>
% end
</li>
% end
</ul>
