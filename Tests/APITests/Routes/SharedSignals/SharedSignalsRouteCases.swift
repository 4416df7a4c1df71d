import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import API
@testable import Operations

extension SharedSignalsRouteTests {
    static let cases: [RouteCase] = metadata + changing + proving + statuses + subjects + subjectRefusals + polling

    /// A second proof in a minute.
    private static let proving = ["POST", "PATCH", "PUT"].map { method in
        RouteCase(
            "\(method) /ssf/streams", 429, .rateLimited,
            policy: RouterBench.policy { $0.accessTokens.provenPerMinute = 1 },
            with { bench, id in
                let body = #"{"stream_id":"\#(id)"}"#
                #expect(try await bench.taken(try bench.assertion()).status == 200)
                return try await bench.stream(
                    body, proof: try bench.proof(method, "/ssf/streams", body), by: method)
            })
    }

    /// A stream of the provider's, for a call that names it.
    private static func with(
        _ call: @escaping @Sendable (RouterBench, String) async throws -> Reply
    ) -> @Sendable (RouterBench) async throws -> Reply {
        { bench in try await call(bench, try #require(try await bench.stream("{}").text("stream_id"))) }
    }

    /// A call with a token that only reads.
    private static func reading(_ call: String, _ body: String? = nil) -> @Sendable (RouterBench) async throws -> Reply
    {
        { bench in try await bench.open(call, body: body, bearer: try await bench.access("users.read")) }
    }

    private static let nobody = "00000000-0000-4000-8000-000000000000"
    private static let named = #"{"stream_id":"\#(nobody)"}"#

    private static let metadata: [RouteCase] = [
        RouteCase("GET /.well-known/ssf-configuration", 200) { bench in
            let reply = try await bench.open("GET /.well-known/ssf-configuration")
            #expect(reply.text("issuer") == "https://public.example" && reply.text("spec_version") == "1_0")
            #expect(
                reply["authorization_schemes"]
                    == .array([.object(["spec_urn": .string("urn:ietf:rfc:6749")])]))
            return reply
        }
    ]

    private static let changing: [RouteCase] = [
        RouteCase("POST /ssf/streams", 201) { bench in
            let reply = try await bench.stream("{}")
            #expect(reply["delivery"]?["method"]?.text == "urn:ietf:rfc:8936")
            return reply
        },
        RouteCase("POST /ssf/streams", 400, .malformedRequest) { bench in
            try await bench.stream(#"{"delivery":{"method":"urn:ietf:rfc:8935","endpoint_url":"https://127.0.0.1/"}}"#)
        },
        RouteCase("POST /ssf/streams", 400, .malformedRequest) { bench in
            try await bench.stream(#"{"delivery":{"method":"urn:x"}}"#)
        },
        RouteCase("POST /ssf/streams", 201) { bench in
            let sent = ProviderEvent.sessionRevokedType
            let reply = try await bench.stream(#"{"events_requested":["\#(sent)","urn:misspelt"]}"#)
            #expect(reply["events_delivered"] == .array([.string(sent)]))
            #expect(reply["events_unsupported"] == .array([.string("urn:misspelt")]))
            let usual = try await bench.stream(#"{"events_requested":["\#(sent)"]}"#)
            #expect(usual.status == 201 && usual["events_unsupported"] == nil)
            return reply
        },
        RouteCase("POST /ssf/streams", 400, .malformedRequest) { bench in
            try await bench.stream(#"{"events_requested":[]}"#)
        },
        RouteCase("POST /ssf/streams", 403, .insufficientScope, reading("POST /ssf/streams", "{}")),
        RouteCase("POST /ssf/streams", 409, .conflict) { bench in
            for _ in 0..<4 { #expect(try await bench.stream("{}").status == 201) }
            return try await bench.stream("{}")
        },
        RouteCase("GET /ssf/streams", 200) { bench in
            let reply = try await bench.provider("GET /ssf/streams")
            #expect(String(decoding: reply.body, as: UTF8.self) == "[]")
            return reply
        },
        RouteCase(
            "GET /ssf/streams", 200, nil,
            with { bench, id in
                let reply = try await bench.provider("GET /ssf/streams?stream_id=\(id)")
                #expect(reply.text("stream_id") == id)
                return reply
            }),
        RouteCase("GET /ssf/streams", 403, .insufficientScope, reading("GET /ssf/streams")),
        RouteCase("GET /ssf/streams", 404, .notFound) { bench in
            try await bench.provider("GET /ssf/streams?stream_id=\(nobody)")
        },
        RouteCase(
            "PATCH /ssf/streams", 200, nil,
            with { bench, id in
                try await bench.proven("PATCH /ssf/streams", body: #"{"stream_id":"\#(id)","description":"x"}"#)
            }),
        RouteCase("PATCH /ssf/streams", 403, .insufficientScope, reading("PATCH /ssf/streams", named)),
        RouteCase("PATCH /ssf/streams", 404, .notFound) { bench in
            try await bench.proven("PATCH /ssf/streams", body: named)
        },
        RouteCase(
            "PUT /ssf/streams", 200, nil,
            with { bench, id in
                try await bench.proven("PUT /ssf/streams", body: #"{"stream_id":"\#(id)"}"#)
            }),
        RouteCase("PUT /ssf/streams", 403, .insufficientScope, reading("PUT /ssf/streams", named)),
        RouteCase("PUT /ssf/streams", 404, .notFound) { bench in
            try await bench.proven("PUT /ssf/streams", body: named)
        },
        RouteCase(
            "DELETE /ssf/streams", 204, nil,
            with { bench, id in
                let reply = try await bench.proven("DELETE /ssf/streams?stream_id=\(id)")
                #expect(try await bench.provider("GET /ssf/status?stream_id=\(id)").status == 404)
                return reply
            }),
        RouteCase("DELETE /ssf/streams", 400, .malformedRequest) { bench in
            try await bench.proven("DELETE /ssf/streams")
        },
        RouteCase("DELETE /ssf/streams", 403, .insufficientScope, reading("DELETE /ssf/streams?stream_id=\(nobody)")),
    ]

    /// The eleventh change in a minute.
    private static func eleventh(
        _ call: @escaping @Sendable (RouterBench, String) async throws -> Reply
    ) -> @Sendable (RouterBench) async throws -> Reply {
        with { bench, id in
            let body = #"{"stream_id":"\#(id)","status":"paused"}"#
            for _ in 0..<9 { #expect(try await bench.proven("POST /ssf/status", body: body).status == 200) }
            return try await call(bench, id)
        }
    }

    private static let statuses: [RouteCase] = [
        RouteCase(
            "POST /ssf/status", 429, .rateLimited, policy: Policy(),
            eleventh { bench, id in
                try await bench.proven("POST /ssf/status", body: #"{"stream_id":"\#(id)","status":"enabled"}"#)
            }),
        RouteCase(
            "DELETE /ssf/streams", 429, .rateLimited, policy: Policy(),
            eleventh { bench, id in try await bench.proven("DELETE /ssf/streams?stream_id=\(id)") }),
        RouteCase(
            "GET /ssf/status", 200, nil,
            with { bench, id in
                let reply = try await bench.provider("GET /ssf/status?stream_id=\(id)")
                #expect(reply.text("status") == "enabled" && reply.text("reason") == nil)
                return reply
            }),
        RouteCase("GET /ssf/status", 403, .insufficientScope, reading("GET /ssf/status?stream_id=\(nobody)")),
        RouteCase(
            "POST /ssf/status", 200, nil,
            with { bench, id in
                let reply = try await bench.proven(
                    "POST /ssf/status", body: #"{"stream_id":"\#(id)","status":"paused","reason":"night"}"#)
                #expect(reply.text("status") == "paused" && reply.text("reason") == "night")
                return reply
            }),
        RouteCase("POST /ssf/status", 202) { bench in
            let id = try #require(try await bench.stream("{\(push)}").text("stream_id"))
            return try await bench.proven("POST /ssf/status", body: #"{"stream_id":"\#(id)","status":"enabled"}"#)
        },
        RouteCase("POST /ssf/status", 400, .malformedRequest) { bench in
            try await bench.proven("POST /ssf/status", body: #"{"stream_id":"\#(nobody)","status":"open"}"#)
        },
        RouteCase("POST /ssf/status", 403, .insufficientScope, reading("POST /ssf/status", named)),
        RouteCase(
            "POST /ssf/verification", 204, nil,
            with { bench, id in
                try await bench.provider("POST /ssf/verification", body: #"{"stream_id":"\#(id)","state":"x"}"#)
            }),
        RouteCase("POST /ssf/verification", 403, .insufficientScope, reading("POST /ssf/verification", named)),
        RouteCase(
            "POST /ssf/verification", 409, .conflict,
            with { bench, id in
                _ = try await bench.proven("POST /ssf/status", body: #"{"stream_id":"\#(id)","status":"disabled"}"#)
                return try await bench.provider("POST /ssf/verification", body: #"{"stream_id":"\#(id)"}"#)
            }),
        RouteCase(
            "POST /ssf/verification", 429, .rateLimited,
            with { bench, id in
                _ = try await bench.provider("POST /ssf/verification", body: #"{"stream_id":"\#(id)"}"#)
                return try await bench.provider("POST /ssf/verification", body: #"{"stream_id":"\#(id)"}"#)
            }),
    ]

    /// A request about a user of the provider's who has signed in.
    private static func about(
        _ verb: String, _ prepare: @escaping @Sendable (RouterBench, EventStreamID) async throws -> Void = { _, _ in }
    ) -> @Sendable (RouterBench) async throws -> Reply {
        with { bench, id in
            _ = try await bench.signIn()
            try await prepare(bench, try #require(EventStreamID(id[...])))
            return try await bench.proven("POST /ssf/subjects/\(verb)", body: subject(id))
        }
    }

    private static func subject(_ stream: String, _ address: String = "alice") -> String {
        #"{"stream_id":"\#(stream)","subject":{"format":"email","email":"\#(address)"}}"#
    }

    private static let subjects: [RouteCase] = [
        RouteCase("POST /ssf/subjects/add", 200, nil, about("add")),
        RouteCase("POST /ssf/subjects/remove", 204, nil, about("remove")),
        RouteCase(
            "POST /ssf/subjects/remove", 409, .conflict,
            about("remove") { bench, id in
                _ = try await bench.fixture.store.write { transaction in
                    try transaction.execute(
                        """
                        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $2)
                        INSERT INTO event_stream_exclusions (stream_id, user_id) SELECT $1, CAST(i AS TEXT) FROM n
                        """, [.text(id.description), .integer(Int64(EventStream.mostExcluded))])
                }
            }),
    ]

    private static let subjectRefusals: [RouteCase] = ["add", "remove"].flatMap { verb -> [RouteCase] in
        [
            RouteCase(
                "POST /ssf/subjects/\(verb)", 400, .malformedRequest,
                with { bench, id in
                    let body = #"{"stream_id":"\#(id)","subject":{"format":"email","email":"a","iss":"b"}}"#
                    return try await bench.proven("POST /ssf/subjects/\(verb)", body: body)
                }),
            RouteCase(
                "POST /ssf/subjects/\(verb)", 403, .insufficientScope,
                reading("POST /ssf/subjects/\(verb)", subject(nobody))),
            RouteCase(
                "POST /ssf/subjects/\(verb)", 404, .notFound,
                with { bench, id in
                    try await bench.proven("POST /ssf/subjects/\(verb)", body: subject(id, "nobody"))
                }),
            RouteCase("POST /ssf/subjects/\(verb)", 404, .notFound) { bench in
                _ = try await bench.signIn()
                return try await bench.proven("POST /ssf/subjects/\(verb)", body: subject(nobody))
            },
            RouteCase(
                "POST /ssf/subjects/\(verb)", 429, .rateLimited, policy: Policy(),
                about(verb) { bench, _ in
                    let key = "stream subjects \(bench.fixture.registration.provider.id)"
                    try await bench.fixture.store.write { transaction in
                        for _ in 0..<600 {
                            try RateRepository(transaction).count(key, limit: RateLimit(count: 600, per: 60))
                        }
                    }
                }),
        ]
    }

    private static let polling: [RouteCase] = [
        RouteCase(
            "POST /ssf/poll/{stream_id}", 200, nil,
            with { bench, id in
                let state = #"{"stream_id":"\#(id)","state":"abc"}"#
                #expect(try await bench.provider("POST /ssf/verification", body: state).status == 204)
                let reply = try await bench.provider("POST /ssf/poll/\(id)", body: #"{"surplus":1}"#)
                guard case .object(let sets) = reply["sets"], let token = sets.first?.value.text else {
                    Issue.record("there is no event")
                    return reply
                }
                #expect(sets.count == 1 && token.split(separator: ".").count == 3)
                return reply
            }),
        RouteCase("POST /ssf/poll/{stream_id}", 403, .insufficientScope, reading("POST /ssf/poll/\(nobody)", "{}")),
        RouteCase(
            "POST /ssf/poll/{stream_id}", 429, .rateLimited,
            policy: RouterBench.policy { $0.webhooks.waitingPolls = 1 },
            with { bench, id in
                // One of both has the only place, and waits for an event until it is cancelled.
                let wait = { @Sendable in try await bench.provider("POST /ssf/poll/\(id)", body: "{}") }
                return try await withThrowingTaskGroup(of: Reply.self) { group in
                    for _ in 0..<2 { group.addTask { try await wait() } }
                    let first = try await group.next()
                    group.cancelAll()
                    return try #require(first)
                }
            }),
    ]
}
