<time datetime="{{format_iso(at)}}">{{readable(at)}}</time>
