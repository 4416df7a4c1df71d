import Encoding
import Foundation

/// A stream of security events from this service to one receiver of a provider (OpenID Shared Signals Framework 1.0).
package struct EventStream: Sendable, Equatable {
    package let id: EventStreamID
    package let provider: ProviderID
    package var settings: Settings
    /// The status that the receiver or, after it, the service has set.
    package private(set) var status: Status
    package private(set) var statusReason: String?
    package let createdAt: Date
    /// The push address that a fresh proof or an operator approved.
    package var approvedURL: String?
    /// When the receiver last requested a verification event.
    package var verifiedAt: Date?
    /// When the receiver last used the stream; `nil` while no inactivity timeout applies.
    package var activeAt: Date?

    /// By default, the stream is enabled.
    package init(
        id: EventStreamID, provider: ProviderID, settings: Settings, status: Status = .enabled,
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
}

package extension EventStream {
    /// Changes to the settings of a stream: `nil` leaves a setting unchanged, `.some(nil)` sets its default.
    struct Change: Sendable {
        package var delivery: EventStream.Settings.Delivery??
        /// The value of the `Authorization` header for the push receiver.
        package var authorization: Secret<String>??
        package var requested: [String]??
        package var description: String??
        package var algorithm: AccessTokenAlgorithm??
        package var subjectForm: EventStream.Settings.SubjectForm??

        package init() {}
    }

    /// The settings that the receiver of a stream chooses.
    struct Settings: Sendable, Equatable {
        package var delivery: Delivery
        /// The URIs of the requested events, also unknown ones; `nil` for all events.
        package var requested: [String]?
        package var description: String?
        /// How the tokens of the stream are signed. The CAEP interoperability profile requires RS256.
        package var algorithm: AccessTokenAlgorithm
        package var subjectForm: SubjectForm

        /// By default: poll delivery, all events, RS256 and `iss_sub`.
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
    }

    /// The state of a stream (SSF 1.0 §8.1.2).
    enum Status: String, Sendable, CaseIterable {
        /// Events are sent, or can be polled.
        case enabled
        /// Events wait until the stream is enabled.
        case paused
        /// Events are discarded and cannot be polled.
        case disabled
    }

    /// Whether the push address needs an approval. Nothing is sent without it.
    var awaitsApproval: Bool {
        guard case .push(let url) = settings.delivery else { return false }
        return approvedURL != url
    }

    /// The effective status, with its reason: a stream that needs an approval is paused.
    var present: (status: Status, reason: String?) {
        status == .enabled && awaitsApproval
            ? (.paused, "The push address awaits the approval of an operator.") : (status, statusReason)
    }

    /// Sets the status, and the reason given with it.
    mutating func set(_ status: Status, because reason: String?) {
        (self.status, statusReason) = (status, reason)
    }
}

package extension EventStream.Settings {
    /// How events reach the receiver.
    enum Delivery: Sendable, Equatable {
        /// The service posts them to a URL (RFC 8935).
        case push(String)
        /// The receiver polls for them (RFC 8936).
        case poll
    }

    /// How a stream names the subjects of its events (RFC 9493).
    enum SubjectForm: String, Sendable, CaseIterable {
        /// The user alone, even if the event concerns one session. A receiver then ends all sessions of the user.
        case issSub = "iss_sub"
        /// The user, and the session if the event concerns one.
        case complex
    }

    /// The events that the stream delivers: the requested ones among those that exist.
    var delivered: [String] {
        guard let requested else { return ProviderEvent.types }
        return ProviderEvent.types.filter(requested.contains)
    }
}

package extension EventStream.Change {
    /// The change with the default for each setting that is left out (`PUT`, SSF 1.0 §8.1.1.4).
    var whole: EventStream.Change {
        var change = self
        change.delivery = .some(delivery ?? nil)
        change.authorization = .some(authorization ?? nil)
        change.requested = .some(requested ?? nil)
        change.description = .some(description ?? nil)
        change.algorithm = .some(algorithm ?? nil)
        change.subjectForm = .some(subjectForm ?? nil)
        return change
    }

    /// The settings with these changes.
    func applied(to settings: EventStream.Settings) -> EventStream.Settings {
        let standard = EventStream.Settings()
        return EventStream.Settings(
            delivery: delivery.map { $0 ?? standard.delivery } ?? settings.delivery,
            requested: requested ?? settings.requested, description: description ?? settings.description,
            algorithm: algorithm.map { $0 ?? standard.algorithm } ?? settings.algorithm,
            subjectForm: subjectForm.map { $0 ?? standard.subjectForm } ?? settings.subjectForm)
    }
}
