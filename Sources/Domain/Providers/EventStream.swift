import Encoding
import Foundation

/// A stream of security events from this service to one receiver of a provider (OpenID Shared Signals Framework 1.0).
package struct EventStream: Sendable, Equatable {
    package let id: EventStreamID
    package let provider: ProviderID
    package var settings: EventStreamSettings
    /// What the receiver asked for, or the service after it.
    package private(set) var status: Status
    package private(set) var statusReason: String?
    package let createdAt: Date
    /// The push address that a fresh proof or an operator has approved.
    package var approvedURL: String?
    /// When the receiver last asked for a verification event.
    package var verifiedAt: Date?
    /// When the receiver last did something with the stream; `nil` while nobody looks at that.
    package var activeAt: Date?

    /// The state of a stream (SSF 1.0 §8.1.2).
    package enum Status: String, Sendable, CaseIterable {
        /// Events are sent.
        case enabled
        /// Events are held until the stream is enabled.
        case paused
        /// Events are neither sent nor held.
        case disabled
    }

    /// Memberwise; without status an enabled one.
    package init(
        id: EventStreamID, provider: ProviderID, settings: EventStreamSettings, status: Status = .enabled,
        statusReason: String? = nil, createdAt: Date, approvedURL: String? = nil, verifiedAt: Date? = nil,
        activeAt: Date? = nil
    ) {
        self.id = id
        self.provider = provider
        self.settings = settings
        self.status = status
        self.statusReason = statusReason
        self.createdAt = createdAt
        self.approvedURL = approvedURL
        self.verifiedAt = verifiedAt
        self.activeAt = activeAt
    }

    /// Whether nobody has approved the push address yet. Nothing is sent before that.
    package var awaitsApproval: Bool {
        guard case .push(let url) = settings.delivery else { return false }
        return approvedURL != url
    }

    /// The status that is in force, with its reason: a stream that awaits approval is paused.
    package var present: (status: Status, reason: String?) {
        status == .enabled && awaitsApproval
            ? (.paused, "The push address awaits the approval of an operator.") : (status, statusReason)
    }

    /// Sets the status; the reason is the one that comes with it.
    package mutating func set(_ status: Status, because reason: String?) {
        (self.status, statusReason) = (status, reason)
    }
}

/// What the receiver of a stream chooses.
package struct EventStreamSettings: Sendable, Equatable {
    package var delivery: Delivery
    /// The URIs of the wanted events, unknown ones too; `nil` for all that there are.
    package var requested: [String]?
    package var description: String?
    /// How the tokens of the stream are signed. RS256 is what the CAEP interoperability profile wants.
    package var algorithm: AccessTokenAlgorithm
    package var subjectForm: SubjectForm

    /// How events reach the receiver.
    package enum Delivery: Sendable, Equatable {
        /// The service posts them to a URL (RFC 8935).
        case push(String)
        /// The receiver asks for them (RFC 8936).
        case poll
    }

    /// How a stream names the subjects of its events (RFC 9493).
    package enum SubjectForm: String, Sendable, CaseIterable {
        /// The user alone, also of a session that ended: a receiver then ends all sessions of the user.
        case issSub = "iss_sub"
        /// The user, together with the session if the event is about one.
        case complex
    }

    /// Polled, with all events, RS256 and `iss_sub`, unless said otherwise.
    package init(
        delivery: Delivery = .poll, requested: [String]? = nil, description: String? = nil,
        algorithm: AccessTokenAlgorithm = .rs256, subjectForm: SubjectForm = .issSub
    ) {
        self.delivery = delivery
        self.requested = requested
        self.description = description
        self.algorithm = algorithm
        self.subjectForm = subjectForm
    }

    /// The events that the stream carries: of those that there are, the wanted ones.
    package var delivered: [String] {
        guard let requested else { return ProviderEvent.types }
        return ProviderEvent.types.filter(requested.contains)
    }
}

/// Some settings of a stream as a request gives them: `nil` for one that it leaves out, `.some(nil)` for the default.
package struct EventStreamChange: Sendable {
    package var delivery: EventStreamSettings.Delivery??
    /// The `Authorization` header of the push receiver.
    package var authorization: Secret<String>??
    package var requested: [String]??
    package var description: String??
    package var algorithm: AccessTokenAlgorithm??
    package var subjectForm: EventStreamSettings.SubjectForm??

    /// Nothing yet.
    package init() {}

    /// The same with the default for everything that is left out (`PUT`, SSF 1.0 §8.1.1.4).
    package var whole: EventStreamChange {
        var change = self
        change.delivery = .some(delivery ?? nil)
        change.authorization = .some(authorization ?? nil)
        change.requested = .some(requested ?? nil)
        change.description = .some(description ?? nil)
        change.algorithm = .some(algorithm ?? nil)
        change.subjectForm = .some(subjectForm ?? nil)
        return change
    }

    /// The settings after it.
    package func applied(to settings: EventStreamSettings) -> EventStreamSettings {
        let standard = EventStreamSettings()
        return EventStreamSettings(
            delivery: delivery.map { $0 ?? standard.delivery } ?? settings.delivery,
            requested: requested ?? settings.requested, description: description ?? settings.description,
            algorithm: algorithm.map { $0 ?? standard.algorithm } ?? settings.algorithm,
            subjectForm: subjectForm.map { $0 ?? standard.subjectForm } ?? settings.subjectForm)
    }
}
