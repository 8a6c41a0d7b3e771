% if scheduled:
<section id="scheduled">
<h2>Scheduled</h2>
<ul class="rows">
% for item in scheduled:
<li>
% include("partials/time.tpl", at=item["due_at"])
 <bdi>{{", ".join(item["action_texts"])}}</bdi>
% if identity.has_permission("ADMIN"):
<a href="{{url('/admin/projects', item['project'], 'actions', item['id'])}}"><bdi>{{item["name"]}}</bdi></a>
% else:
<bdi>{{item["name"]}}</bdi>
% end
<span class="muted">{{item["schedule_text"]}}
% if item["creator"]:
· by <bdi>{{item["creator"]}}</bdi>
% end
</span>
% if identity.has_permission("EDIT" if item["is_once"] else "ADMIN"):
<a href="{{url('/admin/projects', item['project'], 'actions', item['id'], 'delete')}}">Cancel<span class="hidden">: {{item["name"]}}</span></a>
% end
</li>
% end
</ul>
</section>
% end
