<time datetime="{{iso(at)}}">{{readable(at)}}</time>
