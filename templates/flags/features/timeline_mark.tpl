<li>
<svg class="chart-mark" viewBox="-9 -9 18 18" width="18" height="18" aria-hidden="true"><g class="mark {{mark["kind"]}}"><path d="{{shapes[mark['kind']]}}"></path></g></svg>
% include("partials/time.tpl", at=mark["at"])
<a href="{{url(mark['path'])}}" aria-label="{{mark["text"]}} at {{readable(mark["at"])}}"><bdi>{{mark["text"]}}</bdi></a></li>
