// swift-format-ignore-file
// Generated from herald.thrift by `make embed`: change that file, not this one.

extension ThriftInterface {
    static let document = ##"""
/*
 * What an app calls over Herald, and what it gets. The names of fields are those of the members of the JSON calls, where
 * their meaning is written down: Streams.md, and openapi.json. A name that Thrift keeps for itself ends in _. A function's annotation names the route that carries it
 * out; its arguments are part of the path, of the query, or, as a structure, the body.
 *
 * To change it: fields get new numbers, and none changes its type or loses its number.
 */
namespace py herald_rpc
namespace swift herald

typedef string Json

struct StreamOpening {
  1: required string id
  2: required string kind
  3: optional list<string> members
  4: optional string title
  5: optional string description
  6: optional string image_url
  7: optional Json metadata
}

struct OpenedStream {
  1: required string id
  2: required string kind
  3: required string created_at
}

struct Part {
  1: required string type
  2: optional string body
  3: optional binary body_base64
}

struct NewEvent {
  1: required string id
  2: required list<Part> parts
  3: optional string in_reply_to
}

struct AppendedEvent {
  1: required string id
  2: required i64 sequence
  3: required string sent_at
  4: optional string thread
}

struct Event {
  1: required i64 sequence
  2: required string id
  3: optional string sender
  4: required string sent_at
  5: optional string in_reply_to
  6: optional string thread
  7: required bool deleted
  8: optional list<Part> parts
  9: optional Json metadata
  10: optional Json private_metadata
  11: required bool expired
}

struct EventMetadata {
  1: required i64 sequence
  2: required Json metadata
  3: required Json private_metadata
}

struct Profile {
  1: required string user_id
  2: required string address
  3: optional string display_name
  4: optional string initials
  5: optional string picture_url
}

struct EventPage {
  1: required list<Event> events
  2: required bool more
  3: required i64 last_sequence
  4: required list<Profile> profiles
}

struct Member {
  1: required string user_id
  2: optional string initials
  3: required string assurance
  4: required i64 delivered_through
  5: required i64 read_through
  6: optional string address
  7: optional string display_name
  8: optional string picture_url
}

struct Stream {
  1: required string id
  2: required string kind
  3: required string state
  4: optional string created_by
  5: required string created_at
  6: optional string title
  7: optional string description
  8: optional string image_url
  9: required i64 last_sequence
  10: optional i64 unread
  11: optional Event last_event
  12: required list<Member> members
  13: optional Json metadata
  14: optional Json private_metadata
  15: required list<Profile> profiles
  16: required string message_storage
}

struct StreamPage {
  1: required list<Stream> streams
  2: optional string cursor
}

struct Receipts {
  1: optional i64 delivered_through
  2: optional i64 read_through
}

struct MetadataChange {
  1: optional Json set_
  2: optional Json merge
}

struct Metadata {
  1: optional Json metadata
  2: optional Json private_metadata
}

/* What the user's provider sent. The members of data are texts. */
struct Notification {
  1: required string id
  2: optional string title
  3: optional string body
  4: required Json data
  5: required string sent_at
}

/* stream_id is missing where there is a notification. */
struct Operation {
  1: required string operation
  2: optional string stream_id
  3: optional string event_id
  4: optional Stream stream
  5: optional Notification notification
  6: optional EventMetadata event
}

struct Changes {
  1: required string anchor
  2: required bool more
  3: required list<Operation> operations
}

/* The problem document of the JSON call. */
exception Refused {
  1: required i32 status
  2: required string code
  3: required string detail
  4: optional string reason
  5: optional string state
  6: optional string required_level
  7: optional string until
  8: required string request_id
  9: optional i32 retry_after
}

service Streams {
  OpenedStream openStream(1: StreamOpening opening)
    throws (1: Refused refused) (http = "POST /streams")
  StreamPage listStreams(1: optional string kind, 2: optional string cursor, 3: optional string member)
    throws (1: Refused refused) (http = "GET /streams?kind&cursor&member")
  Stream showStream(1: string stream)
    throws (1: Refused refused) (http = "GET /streams/{stream}")
  void deleteStream(1: string stream)
    throws (1: Refused refused) (http = "DELETE /streams/{stream}")
  AppendedEvent appendEvent(1: string stream, 2: NewEvent event)
    throws (1: Refused refused) (http = "POST /streams/{stream}/events")
  EventPage readEvents(1: string stream, 2: optional i64 after, 3: optional i64 before, 4: optional i32 limit)
    throws (1: Refused refused) (http = "GET /streams/{stream}/events?after&before&limit")
  void deleteEvent(1: string stream, 2: string event)
    throws (1: Refused refused) (http = "DELETE /streams/{stream}/events/{event}")
  void deleteEventForMe(1: string stream, 2: string event)
    throws (1: Refused refused) (http = "DELETE /streams/{stream}/events/{event}/copy")
  Metadata changeEventMetadata(1: string stream, 2: string event, 3: MetadataChange change)
    throws (1: Refused refused) (http = "PATCH /streams/{stream}/events/{event}/metadata")
  Metadata changePrivateEventMetadata(1: string stream, 2: string event, 3: MetadataChange change)
    throws (1: Refused refused) (http = "PATCH /streams/{stream}/events/{event}/metadata/private")
  Receipts raiseReceipts(1: string stream, 2: Receipts receipts)
    throws (1: Refused refused) (http = "POST /streams/{stream}/receipts")
  void addMember(1: string stream, 2: string user)
    throws (1: Refused refused) (http = "PUT /streams/{stream}/members/{user}")
  void removeMember(1: string stream, 2: string user)
    throws (1: Refused refused) (http = "DELETE /streams/{stream}/members/{user}")
  Metadata changeMetadata(1: string stream, 2: MetadataChange change)
    throws (1: Refused refused) (http = "PATCH /streams/{stream}/metadata")
  Metadata changePrivateMetadata(1: string stream, 2: MetadataChange change)
    throws (1: Refused refused) (http = "PATCH /streams/{stream}/metadata/private")
  Changes synchronize(1: optional string anchor)
    throws (1: Refused refused) (http = "GET /sync?anchor")
}

"""##
}
