<ul>
% for one in listeners:
<li><a href="{{url('/admin/projects/%s/actions/%d' % (one['project'], one['id']))}}"><bdi>{{one["name"]}}</bdi><span class="hidden"> in {{one["project"]}}</span></a>
% if not one["enabled"]:
<span class="badge">off</span>
% end
</li>
% end
</ul>
