<tr>
<td><span class="tag off"><span aria-hidden="true">◷</span> planned</span></td>
<th scope="row" colspan="4" title="{{item["plan_text"]}}"><bdi>{{", ".join(item["action_texts"])}}</bdi></th>
<td>
% include("partials/time.tpl", at=item["due_at"])
% if not item["is_once"]:
<span class="muted">{{item["schedule_text"]}}</span>
% end
</td>
<td class="muted">
% if item["creator"]:
by <bdi>{{item["creator"]}}</bdi>
% end
</td>
<td><div class="row-commands">
% if identity.has_permission("EDIT" if item["is_once"] else "ADMIN"):
<a class="button quiet" href="{{url('/admin/projects', item['project'], 'actions', item['id'], 'delete')}}" data-dialog>Cancel …<span class="hidden"> {{item["name"]}}</span></a>
% end
</div></td>
</tr>
