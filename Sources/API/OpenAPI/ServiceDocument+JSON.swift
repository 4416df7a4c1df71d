// swift-format-ignore-file
// Generated from openapi.json by `make embed`: change that file, not this one.

extension ServiceDocument {
    static let document = ##"""
{
 "openapi": "3.1.0",
 "info": {
  "title": "Countersign",
  "version": "1",
  "summary": "Federated sign-in for certified devices",
  "description": "The internal CA certifies devices, and they connect over mutual TLS. Providers sign identity tokens around a nonce. A session is bound to device and connection. Every refusal is a problem document (RFC 9457) with a fixed code. HEAD works wherever GET does. OPTIONS works everywhere (204 with Allow). Another method is 405 with Allow. Header fields beyond the limits are 431, a path and query that are too long 414, a transfer coding other than chunked 501. Requests with an unknown member, or with an unknown or repeated query parameter, are refused. Every response has X-Request-ID, the id of the request in the log. Responses may get new members. Ignore members that you do not know. Identifiers are UUIDs. Those that the service creates are of version 8, and their bits are opaque to clients."
 },
 "tags": [
  {
   "name": "Discovery",
   "description": "What a client needs to know before its first call."
  },
  {
   "name": "Certificates",
   "description": "Certification, renewal and revocation of devices."
  },
  {
   "name": "Sessions",
   "description": "Nonces and sessions."
  },
  {
   "name": "Phone numbers",
   "description": "Proofs of a phone number by a texted code."
  },
  {
   "name": "Identity cards",
   "description": "Proofs of an identity by a state-issued card."
  },
  {
   "name": "Users",
   "description": "The user's data: show, change, export, erase."
  },
  {
   "name": "Authorizations",
   "description": "Permissions between two users, and blocks."
  },
  {
   "name": "Addresses",
   "description": "The addresses by which users can be found."
  },
  {
   "name": "Streams",
   "description": "Streams of messages between users."
  },
  {
   "name": "Calls",
   "description": "What devices need to set up a call."
  },
  {
   "name": "Providers",
   "description": "Calls of a provider's backend."
  },
  {
   "name": "Ops",
   "description": "Probes and metrics, on their own listener."
  }
 ],
 "servers": [
  {
   "url": "https://127.0.0.1:8440",
   "description": "public listener: server certificate only"
  }
 ],
 "paths": {
  "/": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "get": {
    "operationId": "describeService",
    "tags": [
     "Discovery"
    ],
    "summary": "Describe the service",
    "description": "Realm, endpoints, algorithms, limits and the pins of the server keys.",
    "responses": {
     "200": {
      "description": "Realm, endpoints, algorithms, limits, pins",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/ServiceDescription"
        },
        "example": {
         "realm": "auth.example",
         "service": "countersign",
         "certificates_endpoint": "https://auth.example/certificates",
         "authority": "https://auth.example/certificates/authority",
         "revocation_list": "https://auth.example/certificates/revocations",
         "nonce_endpoint": "https://devices.auth.example/nonces",
         "session_endpoint": "https://devices.auth.example/sessions",
         "introspection_endpoint": "https://auth.example/introspect",
         "revocation_endpoint": "https://auth.example/revoke",
         "jwks_uri": "https://auth.example/.well-known/jwks.json",
         "openapi": "https://auth.example/openapi.json",
         "identity_token_algorithms": [
          "RS256"
         ],
         "identity_token_maximum_lifetime": 600,
         "clock_skew": 60,
         "sessions_per_user_and_device": 8,
         "session_attachment": "implicit",
         "certification_gate": "open",
         "limits": "on",
         "server_key_pins_sha256": [
          "BSAOM_xY1nz7r1sZ5u7nTwq0w3J2m5vQe9kPzA8dLrE"
         ]
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    }
   }
  },
  "/.well-known/countersign": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "get": {
    "operationId": "discover",
    "tags": [
     "Discovery"
    ],
    "summary": "Describe the service, at its well-known URL",
    "description": "Returns the document of GET /.",
    "responses": {
     "200": {
      "description": "Realm, endpoints, algorithms, limits, pins",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/ServiceDescription"
        },
        "example": {
         "realm": "auth.example",
         "service": "countersign",
         "certificates_endpoint": "https://auth.example/certificates",
         "authority": "https://auth.example/certificates/authority",
         "revocation_list": "https://auth.example/certificates/revocations",
         "nonce_endpoint": "https://devices.auth.example/nonces",
         "session_endpoint": "https://devices.auth.example/sessions",
         "introspection_endpoint": "https://auth.example/introspect",
         "revocation_endpoint": "https://auth.example/revoke",
         "jwks_uri": "https://auth.example/.well-known/jwks.json",
         "openapi": "https://auth.example/openapi.json",
         "identity_token_algorithms": [
          "RS256"
         ],
         "identity_token_maximum_lifetime": 600,
         "clock_skew": 60,
         "sessions_per_user_and_device": 8,
         "session_attachment": "implicit",
         "certification_gate": "open",
         "limits": "on",
         "server_key_pins_sha256": [
          "BSAOM_xY1nz7r1sZ5u7nTwq0w3J2m5vQe9kPzA8dLrE"
         ]
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    }
   }
  },
  "/.well-known/jwks.json": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "get": {
    "operationId": "webKeys",
    "tags": [
     "Discovery"
    ],
    "summary": "Get the service's public signing keys (RFC 7517)",
    "description": "The P-256 key signs security events, the checkpoints of the audit log, and the access tokens of sessions for providers that accept ES256. The RSA keys sign access tokens: the current one first, then the next one and former ones.",
    "responses": {
     "200": {
      "description": "A JSON Web Key Set",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/WebKeySet"
        },
        "example": {
         "keys": [
          {
           "kty": "EC",
           "crv": "P-256",
           "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
           "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
           "use": "sig",
           "alg": "ES256",
           "kid": "zsrVUHpFPKc",
           "x5c": [
            "MIIB…"
           ]
          },
          {
           "kty": "RSA",
           "n": "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw",
           "e": "AQAB",
           "use": "sig",
           "alg": "RS256",
           "kid": "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs",
           "x5c": [
            "MIIB…"
           ]
          }
         ]
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    }
   }
  },
  "/.well-known/oauth-authorization-server": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "get": {
    "operationId": "authorizationServer",
    "tags": [
     "Discovery"
    ],
    "summary": "Describe the authorization server (RFC 8414)",
    "description": "Where an OAuth client gets tokens and how it authenticates. The endpoint with mutual TLS is in mtls_endpoint_aliases (RFC 8705).",
    "responses": {
     "200": {
      "description": "Describe the authorization server",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/AuthorizationServer"
        },
        "example": {
         "issuer": "https://auth.example",
         "token_endpoint": "https://auth.example/token",
         "mtls_endpoint_aliases": {
          "token_endpoint": "https://auth.example:8441/token"
         },
         "introspection_endpoint": "https://auth.example/introspect",
         "revocation_endpoint": "https://auth.example/revoke",
         "jwks_uri": "https://auth.example/.well-known/jwks.json",
         "grant_types_supported": [
          "client_credentials",
          "urn:ietf:params:oauth:grant-type:jwt-bearer",
          "urn:ietf:params:oauth:grant-type:token-exchange"
         ],
         "response_types_supported": [
          "none"
         ],
         "scopes_supported": [
          "sessions.read",
          "sessions.end",
          "users.read",
          "users.notify",
          "ssf.read",
          "ssf.manage"
         ],
         "token_endpoint_auth_methods_supported": [
          "private_key_jwt"
         ],
         "token_endpoint_auth_signing_alg_values_supported": [
          "RS256",
          "PS256",
          "ES256",
          "ES384",
          "EdDSA",
          "Ed25519"
         ],
         "introspection_endpoint_auth_methods_supported": [
          "private_key_jwt"
         ],
         "introspection_endpoint_auth_signing_alg_values_supported": [
          "RS256",
          "PS256",
          "ES256",
          "ES384",
          "EdDSA",
          "Ed25519"
         ],
         "revocation_endpoint_auth_methods_supported": [
          "private_key_jwt"
         ],
         "revocation_endpoint_auth_signing_alg_values_supported": [
          "RS256",
          "PS256",
          "ES256",
          "ES384",
          "EdDSA",
          "Ed25519"
         ],
         "tls_client_certificate_bound_access_tokens": true,
         "protected_resources": [
          "https://auth.example:8441"
         ],
         "dpop_signing_alg_values_supported": [
          "ES256",
          "ES384",
          "RS256",
          "PS256"
         ],
         "introspection_signing_alg_values_supported": [
          "RS256",
          "ES256"
         ]
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    }
   }
  },
  "/.well-known/ssf-configuration": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "get": {
    "operationId": "sharedSignals",
    "tags": [
     "Discovery"
    ],
    "summary": "Describe the transmitter of security events (SSF 1.0)",
    "description": "The endpoints with which a receiver manages its streams.",
    "responses": {
     "200": {
      "description": "The metadata of the transmitter",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "issuer": {
           "type": "string"
          },
          "spec_version": {
           "type": "string"
          },
          "jwks_uri": {
           "type": "string"
          },
          "delivery_methods_supported": {
           "type": "array",
           "items": {
            "type": "string"
           }
          },
          "configuration_endpoint": {
           "type": "string"
          },
          "status_endpoint": {
           "type": "string"
          },
          "verification_endpoint": {
           "type": "string"
          },
          "add_subject_endpoint": {
           "type": "string"
          },
          "remove_subject_endpoint": {
           "type": "string"
          },
          "authorization_schemes": {
           "type": "array",
           "items": {
            "type": "object",
            "properties": {
             "spec_urn": {
              "type": "string"
             }
            },
            "required": [
             "spec_urn"
            ]
           }
          },
          "default_subjects": {
           "type": "string"
          }
         },
         "required": [
          "issuer",
          "spec_version",
          "jwks_uri",
          "delivery_methods_supported",
          "configuration_endpoint",
          "status_endpoint",
          "verification_endpoint",
          "add_subject_endpoint",
          "remove_subject_endpoint",
          "authorization_schemes",
          "default_subjects"
         ]
        },
        "example": {
         "issuer": "https://auth.example",
         "spec_version": "1_0",
         "jwks_uri": "https://auth.example/.well-known/jwks.json",
         "delivery_methods_supported": [
          "urn:ietf:rfc:8935",
          "urn:ietf:rfc:8936"
         ],
         "configuration_endpoint": "https://auth.example/ssf/streams",
         "status_endpoint": "https://auth.example/ssf/status",
         "verification_endpoint": "https://auth.example/ssf/verification",
         "add_subject_endpoint": "https://auth.example/ssf/subjects/add",
         "remove_subject_endpoint": "https://auth.example/ssf/subjects/remove",
         "authorization_schemes": [
          {
           "spec_urn": "urn:ietf:rfc:6749"
          }
         ],
         "default_subjects": "ALL"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    }
   }
  },
  "/.well-known/oauth-protected-resource": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "get": {
    "operationId": "protectedResource",
    "tags": [
     "Discovery"
    ],
    "summary": "Describe the protected resource (RFC 9728)",
    "description": "A 401 response of the client listener names this path in resource_metadata.",
    "responses": {
     "200": {
      "description": "Describe the protected resource",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/ProtectedResource"
        },
        "example": {
         "resource": "https://auth.example:8441",
         "authorization_servers": [
          "https://auth.example"
         ],
         "bearer_methods_supported": [
          "header"
         ],
         "tls_client_certificate_bound_access_tokens": true
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "403": {
      "description": "certificate_revoked. The connection is then closed",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "security": [
     {
      "mutualTLS": []
     }
    ]
   }
  },
  "/openapi.json": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "get": {
    "operationId": "openAPI",
    "tags": [
     "Discovery"
    ],
    "summary": "Get this document",
    "description": "With the external URLs of the listeners.",
    "responses": {
     "200": {
      "description": "OpenAPI 3.1",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "openapi": {
           "type": "string"
          },
          "info": {
           "type": "object"
          },
          "servers": {
           "type": "array",
           "items": {
            "type": "object"
           }
          },
          "paths": {
           "type": "object"
          },
          "components": {
           "type": "object"
          },
          "tags": {
           "type": "array",
           "items": {
            "type": "object"
           }
          }
         },
         "required": [
          "openapi",
          "info",
          "paths"
         ]
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    }
   }
  },
  "/problems": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "get": {
    "operationId": "problemIndex",
    "tags": [
     "Discovery"
    ],
    "summary": "List all codes",
    "description": "Every code with its reasons, and the address of its page. HTML if Accept prefers it to JSON.",
    "responses": {
     "200": {
      "description": "All codes",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "problems": {
           "type": "array",
           "items": {
            "type": "object",
            "properties": {
             "type": {
              "type": "string",
              "description": "The page of the code."
             },
             "code": {
              "$ref": "#/components/schemas/Problem/properties/code"
             },
             "status": {
              "type": "integer"
             },
             "cause": {
              "type": "string"
             },
             "reasons": {
              "type": "array",
              "items": {
               "type": "string"
              }
             }
            },
            "required": [
             "type",
             "code",
             "status",
             "cause",
             "reasons"
            ]
           }
          }
         },
         "required": [
          "problems"
         ]
        },
        "example": {
         "problems": [
          {
           "type": "https://auth.example/problems/not_verified",
           "code": "not_verified",
           "status": 403,
           "cause": "the call needs a higher level",
           "reasons": [
            "caller",
            "partner"
           ]
          }
         ]
        }
       },
       "text/html": {
        "schema": {
         "type": "string"
        },
        "example": "<!doctype html>"
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    }
   }
  },
  "/problems/{code}": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "get": {
    "operationId": "problemPage",
    "tags": [
     "Discovery"
    ],
    "summary": "Get the meaning of a code",
    "description": "The page under the type of a problem: cause, mend, an example, and a row for each reason. HTML if Accept prefers it to JSON.",
    "responses": {
     "200": {
      "description": "The page of the code",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "type": {
           "type": "string"
          },
          "title": {
           "type": "string"
          },
          "status": {
           "type": "integer"
          },
          "code": {
           "$ref": "#/components/schemas/Problem/properties/code"
          },
          "cause": {
           "type": "string",
           "description": "When the service refuses with this code."
          },
          "mend": {
           "type": "string",
           "description": "What to do."
          },
          "example": {
           "type": "object",
           "description": "A problem document with this code."
          },
          "reasons": {
           "type": "array",
           "description": "A row for each reason under the code.",
           "items": {
            "type": "object",
            "properties": {
             "type": {
              "type": "string",
              "description": "The type of problems with this reason: the page and an anchor."
             },
             "reason": {
              "type": "string"
             },
             "cause": {
              "type": "string"
             },
             "mend": {
              "type": "string"
             },
             "example": {
              "type": "string",
              "description": "A call that is not refused for this reason, as lines of text."
             }
            },
            "required": [
             "type",
             "reason",
             "cause",
             "mend",
             "example"
            ]
           }
          }
         },
         "required": [
          "type",
          "title",
          "status",
          "code",
          "cause",
          "mend",
          "example",
          "reasons"
         ]
        },
        "example": {
         "type": "https://auth.example/problems/session_expired",
         "title": "Unauthorized",
         "status": 401,
         "code": "session_expired",
         "cause": "the session or the export token has expired",
         "mend": "Create a new session with the nonce of this response.",
         "example": {
          "type": "https://auth.example/problems/session_expired",
          "title": "Unauthorized",
          "status": 401,
          "code": "session_expired",
          "detail": "The session has expired. Create a new one.",
          "request_id": "5f0c1a2b-3d4e-8f60-9a7b-000000000001"
         },
         "reasons": []
        }
       },
       "text/html": {
        "schema": {
         "type": "string"
        },
        "example": "<!doctype html>"
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "code",
      "in": "path",
      "required": true,
      "schema": {
       "type": "string"
      },
      "description": "The code",
      "example": "session_expired"
     }
    ]
   }
  },
  "/certificates": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "post": {
    "operationId": "certify",
    "tags": [
     "Certificates"
    ],
    "summary": "Certify a device's key",
    "description": "The connection closes after the response, and the device reconnects over mutual TLS. A request that is repeated within ten minutes gets the certificate of the first one (200).",
    "responses": {
     "200": {
      "description": "A repeated request: the certificate that was issued for the first one",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/CertifiedDevice"
        },
        "example": {
         "certificate": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n",
         "chain": [
          "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n"
         ],
         "device_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "serial": "3f9a1c5e7b2d4860",
         "not_before": "2026-11-22T12:00:00Z",
         "not_after": "2026-11-22T12:00:00Z",
         "renew_after": "2026-11-22T12:00:00Z"
        }
       }
      }
     },
     "201": {
      "description": "Certified",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/CertifiedDevice"
        },
        "example": {
         "certificate": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n",
         "chain": [
          "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n"
         ],
         "device_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "serial": "3f9a1c5e7b2d4860",
         "not_before": "2026-11-22T12:00:00Z",
         "not_after": "2026-11-22T12:00:00Z",
         "renew_after": "2026-11-22T12:00:00Z"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "422": {
      "description": "The proof in the body was refused. reason says why",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "csr": {
          "type": "string",
          "description": "PEM PKCS#10 (RFC 2986) or a Layer CSR"
         },
         "presence_key": {
          "type": [
           "string",
           "null"
          ]
         },
         "enrolment_token": {
          "type": [
           "string",
           "null"
          ]
         },
         "captcha": {
          "type": [
           "string",
           "null"
          ]
         },
         "attestation": {
          "oneOf": [
           {
            "$ref": "#/components/schemas/Attestation"
           },
           {
            "type": "null"
           }
          ]
         }
        },
        "required": [
         "csr"
        ],
        "additionalProperties": false
       },
       "example": {
        "csr": "-----BEGIN CERTIFICATE REQUEST-----\nMIHPMHcCAQAwFTETMBEGA1UEAwwKbXkgZGV2aWNl\n-----END CERTIFICATE REQUEST-----\n"
       }
      }
     }
    }
   }
  },
  "/attestation-challenges": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "post": {
    "operationId": "issueAttestationChallenge",
    "tags": [
     "Certificates"
    ],
    "summary": "Get a challenge for an attestation",
    "description": "Valid once, for 10 minutes. The device attests its key with it, and sends the attestation at POST /certificates or POST /certificates/renewal.",
    "responses": {
     "201": {
      "description": "Issued",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "challenge": {
           "type": "string"
          },
          "expires_at": {
           "type": "string",
           "format": "date-time"
          }
         },
         "required": [
          "challenge",
          "expires_at"
         ]
        },
        "example": {
         "challenge": "AAABmT3cV0DQ1b7k9rTj0Q8mXz4Yc2uN6w",
         "expires_at": "2026-11-22T12:00:00Z"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    }
   }
  },
  "/certificates/authority": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "get": {
    "operationId": "authority",
    "tags": [
     "Certificates"
    ],
    "summary": "Get the CA's certificates",
    "description": "PEM, the issuing certificate first. While the operator replaces the CA, the certificates of the next or the former one follow: trust all of them.",
    "responses": {
     "200": {
      "description": "PEM chain",
      "content": {
       "application/pem-certificate-chain": {
        "schema": {
         "type": "string"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    }
   }
  },
  "/certificates/revocations": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "get": {
    "operationId": "revocationList",
    "tags": [
     "Certificates"
    ],
    "summary": "Get the revocation list (RFC 5280)",
    "description": "DER, or PEM for Accept: application/x-pem-file. Never older than an hour. Each certificate names the list of its CA.",
    "parameters": [
     {
      "name": "authority",
      "in": "query",
      "required": false,
      "description": "SHA-256 of the SubjectPublicKeyInfo of the CA, base64url. The current CA if omitted",
      "schema": {
       "type": "string"
      }
     }
    ],
    "responses": {
     "200": {
      "description": "The list",
      "content": {
       "application/pkix-crl": {
        "schema": {
         "type": "string",
         "format": "binary"
        }
       },
       "application/x-pem-file": {
        "schema": {
         "type": "string"
        }
       }
      }
     },
     "304": {
      "description": "The list that If-None-Match names is the current one"
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    }
   }
  },
  "/certificates/renewal": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "post": {
    "operationId": "renewCertificate",
    "tags": [
     "Certificates"
    ],
    "summary": "Renew the certificate",
    "description": "Allowed after two thirds of its validity period. The body is optional. Without csr the key stays the same. The new certificate supersedes the old one when it is first used.",
    "responses": {
     "201": {
      "description": "Renewed",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/CertifiedDevice"
        },
        "example": {
         "certificate": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n",
         "chain": [
          "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n"
         ],
         "device_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "serial": "3f9a1c5e7b2d4860",
         "not_before": "2026-11-22T12:00:00Z",
         "not_after": "2026-11-22T12:00:00Z",
         "renew_after": "2026-11-22T12:00:00Z"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "description": "conflict: the current state does not allow this transition",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "422": {
      "description": "The proof in the body was refused. reason says why",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "security": [
     {
      "mutualTLS": []
     }
    ],
    "requestBody": {
     "required": false,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "csr": {
          "type": [
           "string",
           "null"
          ]
         },
         "attestation": {
          "oneOf": [
           {
            "$ref": "#/components/schemas/Attestation"
           },
           {
            "type": "null"
           }
          ]
         }
        },
        "required": [],
        "additionalProperties": false
       },
       "example": {}
      }
     }
    }
   }
  },
  "/certificates/current": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "delete": {
    "operationId": "revokeOwnCertificate",
    "tags": [
     "Certificates"
    ],
    "summary": "Revoke the device's own certificate",
    "description": "Its sessions end, and the connection closes.",
    "responses": {
     "204": {
      "description": "Revoked"
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "description": "conflict: the current state does not allow this transition",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "security": [
     {
      "mutualTLS": []
     }
    ]
   }
  },
  "/nonces": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "post": {
    "operationId": "issueNonce",
    "tags": [
     "Sessions"
    ],
    "summary": "Get a nonce",
    "description": "For this certificate, valid once, for 10 minutes. Put it into an identity token or a presence proof.",
    "responses": {
     "201": {
      "description": "Issued",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "nonce": {
           "type": "string"
          },
          "expires_at": {
           "type": "string",
           "format": "date-time"
          }
         },
         "required": [
          "nonce",
          "expires_at"
         ]
        },
        "example": {
         "nonce": "AAABmT3cV0DQ1b7k9rTj0Q8mXz4Yc2uN6w",
         "expires_at": "2026-11-22T12:00:00Z"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "security": [
     {
      "mutualTLS": []
     }
    ]
   }
  },
  "/nonce": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "get": {
    "operationId": "challenge",
    "tags": [
     "Sessions"
    ],
    "summary": "Get a nonce, the older form",
    "description": "Always 401, with the nonce in WWW-Authenticate.",
    "responses": {
     "401": {
      "description": "The challenge",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "security": [
     {
      "mutualTLS": []
     }
    ]
   }
  },
  "/sessions": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "post": {
    "operationId": "openSession",
    "tags": [
     "Sessions"
    ],
    "summary": "Open a session",
    "description": "The identity token contains a nonce of this device and is signed with a registered key of a provider. The session token is in this response only.",
    "responses": {
     "201": {
      "description": "Opened",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OpenedSession"
        },
        "example": {
         "session_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "user_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "address": "acme/alice",
         "session_token": "AZq5TJ8AfgCAAJ2w3hV5Kt8tAtW1sRq4v7Q2nJ5m8Rk6uZ9aL0sDfGhPoIeXcBnM",
         "ttl": 86400,
         "idle_ttl": 3600,
         "expires_at": "2026-11-22T12:00:00Z",
         "assurance": "barcode",
         "cnf": {
          "x5t#S256": "BSAOM_xY1nz7r1sZ5u7nTwq0w3J2m5vQe9kPzA8dLrE"
         }
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "422": {
      "description": "The proof in the body was refused. reason says why",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "identity_token": {
          "type": "string"
         },
         "app_id": {
          "type": [
           "string",
           "null"
          ]
         }
        },
        "required": [
         "identity_token"
        ],
        "additionalProperties": false
       },
       "example": {
        "identity_token": "eyJhbGciOiJSUzI1NiIsImN0eSI6ImxheWVyLWVpdDt2PTEiLCJ0eXAiOiJKV1MifQ.eyJwcm4iOiJhbGljZSJ9.c2lnbmF0dXJl"
       }
      }
     }
    },
    "security": [
     {
      "mutualTLS": []
     }
    ]
   },
   "get": {
    "operationId": "listSessions",
    "tags": [
     "Sessions"
    ],
    "summary": "List the user's live sessions",
    "description": "On all devices, oldest first.",
    "responses": {
     "200": {
      "description": "The sessions",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "sessions": {
           "type": "array",
           "items": {
            "$ref": "#/components/schemas/ListedSession"
           }
          }
         },
         "required": [
          "sessions"
         ]
        },
        "example": {
         "sessions": [
          {
           "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
           "device_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
           "app_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
           "state": "authenticated",
           "created_at": "2026-11-22T12:00:00Z",
           "last_used_at": "2026-11-22T12:00:00Z",
           "expires_at": "2026-11-22T12:00:00Z",
           "current": true
          }
         ]
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/sessions/resume": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "post": {
    "operationId": "resumeSession",
    "tags": [
     "Sessions"
    ],
    "summary": "Attach a session to this connection",
    "description": "The response has the members of the creation response except the token.",
    "responses": {
     "200": {
      "description": "Resumed",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OpenedSession"
        },
        "example": {
         "session_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "user_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "address": "acme/alice",
         "session_token": "AZq5TJ8AfgCAAJ2w3hV5Kt8tAtW1sRq4v7Q2nJ5m8Rk6uZ9aL0sDfGhPoIeXcBnM",
         "ttl": 86400,
         "idle_ttl": 3600,
         "expires_at": "2026-11-22T12:00:00Z",
         "assurance": "barcode",
         "cnf": {
          "x5t#S256": "BSAOM_xY1nz7r1sZ5u7nTwq0w3J2m5vQe9kPzA8dLrE"
         }
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "user_id": {
          "type": "string",
          "format": "uuid"
         },
         "session_token": {
          "type": "string"
         }
        },
        "required": [
         "user_id",
         "session_token"
        ],
        "additionalProperties": false
       },
       "example": {
        "user_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
        "session_token": "AZq5TJ8AfgCAAJ2w3hV5Kt8tAtW1sRq4v7Q2nJ5m8Rk6uZ9aL0sDfGhPoIeXcBnM"
       }
      }
     }
    },
    "security": [
     {
      "mutualTLS": []
     }
    ]
   }
  },
  "/sessions/renew": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "post": {
    "operationId": "renewSession",
    "tags": [
     "Sessions"
    ],
    "summary": "Renew a challenged session",
    "description": "Authorization names the challenged session. The identity token must be for the user of that session. The response contains a new token.",
    "responses": {
     "200": {
      "description": "Renewed",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OpenedSession"
        },
        "example": {
         "session_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "user_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "address": "acme/alice",
         "session_token": "AZq5TJ8AfgCAAJ2w3hV5Kt8tAtW1sRq4v7Q2nJ5m8Rk6uZ9aL0sDfGhPoIeXcBnM",
         "ttl": 86400,
         "idle_ttl": 3600,
         "expires_at": "2026-11-22T12:00:00Z",
         "assurance": "barcode",
         "cnf": {
          "x5t#S256": "BSAOM_xY1nz7r1sZ5u7nTwq0w3J2m5vQe9kPzA8dLrE"
         }
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "description": "conflict: the current state does not allow this transition",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "422": {
      "description": "The proof in the body was refused. reason says why",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "identity_token": {
          "type": "string"
         }
        },
        "required": [
         "identity_token"
        ],
        "additionalProperties": false
       },
       "example": {
        "identity_token": "eyJhbGciOiJSUzI1NiIsImN0eSI6ImxheWVyLWVpdDt2PTEiLCJ0eXAiOiJKV1MifQ.eyJwcm4iOiJhbGljZSJ9.c2lnbmF0dXJl"
       }
      }
     }
    },
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/sessions/current": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "get": {
    "operationId": "currentSession",
    "tags": [
     "Sessions"
    ],
    "summary": "Show the session",
    "description": "Also in the header form: an identity token in Authorization opens a session, and the response has its token in X-Layer-Session-Token.",
    "responses": {
     "200": {
      "description": "The session",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/CurrentSession"
        },
        "example": {
         "session_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "state": "authenticated",
         "user_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "app_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "device_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "expires_at": "2026-11-22T12:00:00Z",
         "idle_ttl": 3600,
         "connection_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "device_attestation": "app_attest"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   },
   "delete": {
    "operationId": "endSession",
    "tags": [
     "Sessions"
    ],
    "summary": "End the session",
    "description": "A challenged session can be ended, too.",
    "responses": {
     "204": {
      "description": "Ended"
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/sessions/{id}": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "delete": {
    "operationId": "endOtherSession",
    "tags": [
     "Sessions"
    ],
    "summary": "End another session of the user",
    "description": "On another device of the same user.",
    "responses": {
     "204": {
      "description": "Ended"
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "Its id",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/phone-verifications": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "post": {
    "operationId": "startPhoneVerification",
    "tags": [
     "Phone numbers"
    ],
    "summary": "Text a code to a number",
    "description": "Every well-formed number gets the same kind of response. While a verification of this number is open, its id is returned and no text is sent.",
    "responses": {
     "202": {
      "description": "Returned for every well-formed number, whether or not a text is sent",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/StartedPhoneVerification"
        },
        "example": {
         "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "expires_at": "2026-11-22T12:00:00Z",
         "resend_after": "2026-11-22T12:00:30Z",
         "digits": 6
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "description": "conflict with the state unattested: texts are sent to devices with an attested key only",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "422": {
      "description": "invalid_presence_proof. reason says why",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "phone_number": {
          "type": "string",
          "description": "E.164, or a national form with region"
         },
         "region": {
          "type": [
           "string",
           "null"
          ],
          "description": "ISO 3166-1 alpha-2, or XK, AC or TA"
         },
         "push_endpoint": {
          "type": [
           "string",
           "null"
          ],
          "description": "The ARN of an Amazon SNS endpoint of an application in the service's policy"
         },
         "presence": {
          "type": [
           "string",
           "null"
          ],
          "description": "A JWS with cty layer-presence;v=1, signed with the device's presence key over nce, iat, method and phone_sha256"
         },
         "captcha": {
          "type": [
           "string",
           "null"
          ],
          "description": "The response of a solved captcha. Like a presence proof, it lets the text go first while texts are limited."
         },
         "locale": {
          "type": [
           "string",
           "null"
          ],
          "description": "The language of the text, a tag of RFC 5646 such as pt-BR. Without it the header Accept-Language decides."
         }
        },
        "required": [
         "phone_number"
        ],
        "additionalProperties": false
       },
       "example": {
        "phone_number": "+12025550123"
       }
      }
     }
    },
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/phone-verifications/{id}/check": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "post": {
    "operationId": "checkPhoneVerification",
    "tags": [
     "Phone numbers"
    ],
    "summary": "Check the code of a text",
    "description": "Five attempts for one verification. Wrong, expired, used up and unknown get the same response.",
    "responses": {
     "200": {
      "description": "The number is the user's",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "user_id": {
           "type": "string",
           "format": "uuid"
          },
          "assurance": {
           "type": "string",
           "enum": [
            "none",
            "phone",
            "barcode",
            "issuer_signed",
            "issuer_checked",
            "credential"
           ]
          }
         },
         "required": [
          "user_id",
          "assurance"
         ]
        },
        "example": {
         "user_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "assurance": "phone"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "422": {
      "description": "verification_failed: wrong, expired, used up and unknown get the same response",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "schema": {
       "type": "string"
      }
     }
    ],
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "code": {
          "type": "string"
         }
        },
        "required": [
         "code"
        ],
        "additionalProperties": false
       },
       "example": {
        "code": "123456"
       }
      }
     }
    },
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/phone-verifications/{id}/resend": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "post": {
    "operationId": "resendPhoneCode",
    "tags": [
     "Phone numbers"
    ],
    "summary": "Text the same code again",
    "description": "30, 60 and 120 seconds after the previous text. Earlier calls are rate_limited with Retry-After.",
    "responses": {
     "202": {
      "description": "As at the start. Attempts and expiry stay the same",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/StartedPhoneVerification"
        },
        "example": {
         "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "expires_at": "2026-11-22T12:00:00Z",
         "resend_after": "2026-11-22T12:00:30Z",
         "digits": 6
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "description": "conflict: the current state does not allow this transition",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "schema": {
       "type": "string"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/identity-cards": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "post": {
    "operationId": "submitIdentityCard",
    "tags": [
     "Identity cards"
    ],
    "summary": "Submit a state-issued card",
    "description": "Requires a proven phone number. Send one of the two members. A text that cannot be read is not a submission.",
    "responses": {
     "201": {
      "description": "Evaluated: the card is verified, or a reviewer decides",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/IdentityCard"
        },
        "example": {
         "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "status": "verified",
         "assurance": "barcode",
         "checks": [
          {
           "name": "unexpired",
           "result": "passed",
           "detail": "One sentence."
          }
         ],
         "issuer_signature": "none",
         "card": {
          "full_name": "ALICE BAKER",
          "date_of_birth": "1996-05-17",
          "age": 30,
          "address": {
           "street": "1 MAIN STREET",
           "city": "RICHMOND",
           "jurisdiction": "VA",
           "postal_code": "23219",
           "country": "USA"
          },
          "document_number": "5789",
          "jurisdiction": "VA",
          "expires_on": "2030-05-17"
         }
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "description": "conflict: prove a phone number first",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "422": {
      "description": "card_rejected, with every check",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "aamva": {
          "type": [
           "string",
           "null"
          ],
          "description": "The raw text of the PDF417 barcode (AAMVA), base64 standard or url"
         },
         "mrz": {
          "type": [
           "string",
           "null"
          ],
          "description": "The lines of a machine-readable zone (ICAO 9303: TD1, TD2, TD3)"
         }
        },
        "additionalProperties": false
       },
       "example": {
        "aamva": "QAoeDUFOU0kgNjM2MDAwMDkwMDAyREw="
       }
      }
     }
    },
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/identity-cards/{id}": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "get": {
    "operationId": "showIdentityCard",
    "tags": [
     "Identity cards"
    ],
    "summary": "Show one of the caller's cards",
    "description": "With its current status.",
    "responses": {
     "200": {
      "description": "The card",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/IdentityCard"
        },
        "example": {
         "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "status": "verified",
         "assurance": "barcode",
         "checks": [
          {
           "name": "unexpired",
           "result": "passed",
           "detail": "One sentence."
          }
         ],
         "issuer_signature": "none",
         "card": {
          "full_name": "ALICE BAKER",
          "date_of_birth": "1996-05-17",
          "age": 30,
          "address": {
           "street": "1 MAIN STREET",
           "city": "RICHMOND",
           "jurisdiction": "VA",
           "postal_code": "23219",
           "country": "USA"
          },
          "document_number": "5789",
          "jurisdiction": "VA",
          "expires_on": "2030-05-17"
         }
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ],
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "Its id",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ]
   }
  },
  "/identity-cards/presentations": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "post": {
    "operationId": "beginPresentation",
    "tags": [
     "Identity cards"
    ],
    "summary": "Ask the user's wallet for a credential",
    "description": "Makes a request with a new nonce and keys for each protocol, or a link to a wallet on the same device. An identity requires a proven phone number.",
    "responses": {
     "201": {
      "description": "Begun",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "id": {
           "type": "string",
           "format": "uuid"
          },
          "expires_at": {
           "type": "string",
           "format": "date-time"
          },
          "requests": {
           "type": "array",
           "description": "For dc_api. Hand it over unchanged, as digital.requests of navigator.credentials.get or to Android's Credential Manager",
           "items": {
            "type": "object",
            "properties": {
             "protocol": {
              "type": "string",
              "enum": [
               "openid4vp-v1-signed",
               "org-iso-mdoc"
              ]
             },
             "data": {
              "type": "object",
              "properties": {
               "request": {
                "type": "string",
                "description": "For openid4vp-v1-signed: a compact JWS"
               },
               "deviceRequest": {
                "type": "string",
                "description": "For org-iso-mdoc: base64url of CBOR"
               },
               "encryptionInfo": {
                "type": "string",
                "description": "For org-iso-mdoc: base64url of CBOR"
               }
              }
             }
            },
            "required": [
             "protocol",
             "data"
            ]
           }
          },
          "url": {
           "type": "string",
           "description": "For same_device: open this link. A wallet with another scheme than openid4vp gets the same parameters"
          }
         },
         "required": [
          "id",
          "expires_at"
         ]
        },
        "example": {
         "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "expires_at": "2026-11-30T08:05:00Z",
         "requests": [
          {
           "protocol": "openid4vp-v1-signed",
           "data": {
            "request": "eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl"
           }
          },
          {
           "protocol": "org-iso-mdoc",
           "data": {
            "deviceRequest": "omd2ZXJzaW9uYzEuMA",
            "encryptionInfo": "gmVkY2FwaaA"
           }
          }
         ]
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "description": "conflict: prove a phone number first",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "channel": {
          "type": "string",
          "enum": [
           "dc_api",
           "same_device"
          ],
          "description": "dc_api is the Digital Credentials API. With same_device the wallet fetches the request, posts its answer and returns to the app"
         },
         "want": {
          "type": "string",
          "enum": [
           "identity",
           "age_over_18",
           "age_over_21"
          ]
         },
         "origin": {
          "type": "string",
          "description": "For dc_api: the registered origin of the page, or the native Android app, that calls the wallet"
         },
         "return_to": {
          "type": "string",
          "format": "uri",
          "description": "For same_device: the registered address to which the wallet returns, with #response_code="
         }
        },
        "required": [
         "channel",
         "want"
        ],
        "additionalProperties": false
       },
       "example": {
        "channel": "dc_api",
        "want": "age_over_18",
        "origin": "https://app.example"
       }
      }
     }
    },
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/identity-cards/presentations/{id}": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "get": {
    "operationId": "showPresentation",
    "tags": [
     "Identity cards"
    ],
    "summary": "Show what came of a presentation",
    "description": "Only the session that began it can see it.",
    "responses": {
     "200": {
      "description": "The state",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "state": {
           "type": "string",
           "enum": [
            "open",
            "received",
            "accepted",
            "refused",
            "expired"
           ]
          },
          "reason": {
           "type": [
            "string",
            "null"
           ],
           "description": "Why the answer was refused"
          }
         },
         "required": [
          "state",
          "reason"
         ]
        },
        "example": {
         "state": "refused",
         "reason": "revoked"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "Its id",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   },
   "post": {
    "operationId": "answerPresentation",
    "tags": [
     "Identity cards"
    ],
    "summary": "Send the wallet's answer, or redeem it",
    "description": "The first answer that presents a credential ends the presentation. An identity gives a card, and an age is the member that was asked for. An answer by redirect has arrived already, and is redeemed once with response_code, within two minutes.",
    "responses": {
     "201": {
      "description": "Accepted",
      "content": {
       "application/json": {
        "schema": {
         "anyOf": [
          {
           "$ref": "#/components/schemas/IdentityCard"
          },
          {
           "type": "object",
           "properties": {
            "id": {
             "type": "string",
             "format": "uuid"
            },
            "age_over_18": {
             "type": "boolean"
            },
            "age_over_21": {
             "type": "boolean"
            }
           },
           "required": [
            "id"
           ]
          }
         ]
        },
        "example": {
         "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "age_over_18": true
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "description": "not_found: another presentation, or a code that is not its own",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "409": {
      "description": "conflict: answered or expired",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "422": {
      "description": "presentation_rejected with the reason, or card_rejected with every check",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "protocol": {
          "type": "string",
          "enum": [
           "openid4vp-v1-signed",
           "org-iso-mdoc"
          ],
          "description": "For dc_api"
         },
         "data": {
          "type": "object",
          "properties": {
           "response": {
            "type": "string"
           }
          },
          "required": [
           "response"
          ],
          "description": "For dc_api: as the wallet gave it"
         },
         "response_code": {
          "type": "string",
          "description": "For same_device: from the fragment of the address to which the wallet returned"
         }
        },
        "additionalProperties": false
       },
       "example": {
        "protocol": "org-iso-mdoc",
        "data": {
         "response": "gmVkY2FwaaA"
        }
       }
      }
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "Its id",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   },
   "delete": {
    "operationId": "deletePresentation",
    "tags": [
     "Identity cards"
    ],
    "summary": "Delete a presentation",
    "description": "What an answer has stored stays.",
    "responses": {
     "204": {
      "description": "Deleted"
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "Its id",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/wallet/requests/{request}": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "get": {
    "operationId": "readWalletRequest",
    "tags": [
     "Identity cards"
    ],
    "summary": "Fetch a request as a wallet (OpenID4VP 1.0)",
    "description": "The request is signed, and can be fetched until it is answered or expires.",
    "responses": {
     "200": {
      "description": "The request as a compact JWS",
      "content": {
       "application/oauth-authz-req+jwt": {
        "schema": {
         "type": "string"
        },
        "example": "eyJhbGciOiJFUzI1NiIsInR5cCI6Im9hdXRoLWF1dGh6LXJlcStqd3QifQ.e30.c2lnbmF0dXJl"
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/OAuthMalformedRequest"
     },
     "404": {
      "description": "not_found: unknown, answered or expired",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/OAuthPayloadTooLarge"
     },
     "429": {
      "description": "rate_limited. Repeat the call after Retry-After",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "503": {
      "$ref": "#/components/responses/OAuthUnavailable"
     }
    },
    "parameters": [
     {
      "name": "request",
      "in": "path",
      "required": true,
      "description": "The secret from the link",
      "schema": {
       "type": "string"
      }
     }
    ]
   },
   "post": {
    "operationId": "readWalletRequestWithNonce",
    "tags": [
     "Identity cards"
    ],
    "summary": "Fetch a request with the wallet's nonce (OpenID4VP 1.0)",
    "description": "wallet_nonce is signed with the request. Other parameters are ignored.",
    "responses": {
     "200": {
      "description": "The request as a compact JWS",
      "content": {
       "application/oauth-authz-req+jwt": {
        "schema": {
         "type": "string"
        },
        "example": "eyJhbGciOiJFUzI1NiIsInR5cCI6Im9hdXRoLWF1dGh6LXJlcStqd3QifQ.e30.c2lnbmF0dXJl"
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/OAuthMalformedRequest"
     },
     "404": {
      "description": "not_found: unknown, answered or expired",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/OAuthPayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/OAuthUnsupportedMediaType"
     },
     "429": {
      "description": "rate_limited. Repeat the call after Retry-After",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "503": {
      "$ref": "#/components/responses/OAuthUnavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/x-www-form-urlencoded": {
       "schema": {
        "type": "object",
        "properties": {
         "wallet_nonce": {
          "type": "string",
          "maxLength": 512
         }
        },
        "additionalProperties": true
       },
       "example": {
        "wallet_nonce": "qPmxiNFCR3QTm19POc8u"
       }
      }
     }
    },
    "parameters": [
     {
      "name": "request",
      "in": "path",
      "required": true,
      "description": "The secret from the link",
      "schema": {
       "type": "string"
      }
     }
    ]
   }
  },
  "/wallet/responses/{request}": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "post": {
    "operationId": "answerWalletRequest",
    "tags": [
     "Identity cards"
    ],
    "summary": "Answer a request as a wallet (OpenID4VP 1.0, direct_post.jwt)",
    "description": "The service verifies the answer when it arrives. An accepted answer that is sent again gets the same response. A wallet's error changes nothing. After the session that began the request has ended, or a ban of its user or device, the request is unknown.",
    "responses": {
     "200": {
      "description": "Where the wallet sends its user. Empty after an error of the wallet",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "redirect_uri": {
           "type": "string",
           "format": "uri"
          }
         }
        },
        "example": {
         "redirect_uri": "https://app.example/wallet#response_code=AZq5TJ8AfgCAAJ2w3hV5Kt8tAtW1sRq4v7Q2nJ5m8Rk"
        }
       }
      }
     },
     "400": {
      "description": "malformed_request, or presentation_rejected with the reason",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "404": {
      "description": "not_found",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "409": {
      "description": "conflict: answered or expired",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/OAuthPayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/OAuthUnsupportedMediaType"
     },
     "429": {
      "description": "rate_limited. Repeat the call after Retry-After",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "503": {
      "$ref": "#/components/responses/OAuthUnavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/x-www-form-urlencoded": {
       "schema": {
        "type": "object",
        "properties": {
         "response": {
          "type": "string",
          "description": "A compact JWE"
         },
         "error": {
          "type": "string"
         }
        },
        "additionalProperties": true
       },
       "example": {
        "response": "eyJhbGciOiJFQ0RILUVTIn0..bm9uY2U.Y29udGVudA.dGFn"
       }
      }
     }
    },
    "parameters": [
     {
      "name": "request",
      "in": "path",
      "required": true,
      "description": "The secret from the link",
      "schema": {
       "type": "string"
      }
     }
    ]
   }
  },
  "/me": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "get": {
    "operationId": "showOwnRow",
    "tags": [
     "Users"
    ],
    "summary": "Show the user's data",
    "description": "Members that are not proved are null.",
    "responses": {
     "200": {
      "description": "The user's data",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OwnRow"
        },
        "example": {
         "user_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "address": "acme/alice",
         "phone_number": "+12025550123",
         "postal_address": "1 MAIN STREET, RICHMOND, VA 23219, USA",
         "full_name": "ALICE BAKER",
         "age": 30,
         "document_number": "5789",
         "jurisdiction": "VA",
         "push_endpoint": "arn:aws:sns:us-east-1:123456789012:endpoint/APNS/app/5e3e9847-3183-3f18-a7e8-671c3a57d4b3",
         "call_endpoint": null,
         "assurance": "barcode",
         "phone_verified_at": "2026-11-22T12:00:00Z",
         "identity_verified_at": "2026-11-22T12:00:00Z",
         "suspended": null,
         "presence": "visible",
         "message_storage": "keep"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   },
   "patch": {
    "operationId": "changeOwnRow",
    "tags": [
     "Users"
    ],
    "summary": "Set the push endpoints of this device, the storage of messages, or the presence",
    "description": "At least one member is required. Members that are missing do not change. Each device has its own endpoints, and each device of a user gets every push. null removes an endpoint. A log-out removes both. Call it at each start of the app.",
    "responses": {
     "200": {
      "description": "The user's data",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OwnRow"
        },
        "example": {
         "user_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "address": "acme/alice",
         "phone_number": "+12025550123",
         "postal_address": "1 MAIN STREET, RICHMOND, VA 23219, USA",
         "full_name": "ALICE BAKER",
         "age": 30,
         "document_number": "5789",
         "jurisdiction": "VA",
         "push_endpoint": "arn:aws:sns:us-east-1:123456789012:endpoint/APNS/app/5e3e9847-3183-3f18-a7e8-671c3a57d4b3",
         "call_endpoint": "arn:aws:sns:us-east-1:123456789012:endpoint/APNS_VOIP/app/1f4a2c5d-77d2-3b0e-9a51-0c2f1c6f3f10",
         "assurance": "barcode",
         "phone_verified_at": "2026-11-22T12:00:00Z",
         "identity_verified_at": "2026-11-22T12:00:00Z",
         "suspended": null,
         "presence": "visible",
         "message_storage": "keep"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "push_endpoint": {
          "type": [
           "string",
           "null"
          ],
          "description": "The ARN of an Amazon SNS endpoint of an application in the service's policy, or null for none"
         },
         "presence": {
          "type": "string",
          "enum": [
           "visible",
           "hidden"
          ],
          "description": "hidden: the user looks offline to everybody, and does not see the presence of others"
         },
         "message_storage": {
          "type": "string",
          "enum": [
           "keep",
           "until_delivered"
          ],
          "description": "until_delivered: messages that the user writes or gets are deleted from the service when all active devices of all members have them"
         },
         "call_endpoint": {
          "type": [
           "string",
           "null"
          ],
          "description": "The ARN of an endpoint for incoming calls only, such as one of the platform APNS_VOIP, or null for none. Without it calls use push_endpoint"
         }
        },
        "minProperties": 1,
        "additionalProperties": false
       },
       "example": {
        "push_endpoint": "arn:aws:sns:us-east-1:123456789012:endpoint/APNS/app/5e3e9847-3183-3f18-a7e8-671c3a57d4b3",
        "call_endpoint": "arn:aws:sns:us-east-1:123456789012:endpoint/APNS_VOIP/app/1f4a2c5d-77d2-3b0e-9a51-0c2f1c6f3f10"
       }
      }
     }
    },
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   },
   "delete": {
    "operationId": "eraseOwnRow",
    "tags": [
     "Users"
    ],
    "summary": "Erase the user",
    "description": "Requires a session that was created or renewed within ten minutes, or the export token of a banned user. Data and key are deleted.",
    "responses": {
     "202": {
      "description": "Erased. Every session of the user has ended",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "receipt": {
           "type": "string",
           "format": "uuid"
          }
         },
         "required": [
          "receipt"
         ]
        },
        "example": {
         "receipt": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     },
     {
      "mutualTLS": [],
      "exportToken": []
     }
    ]
   }
  },
  "/me/export": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "get": {
    "operationId": "exportOwnData",
    "tags": [
     "Users"
    ],
    "summary": "Export all data of the user",
    "description": "Requires a session that was created or renewed within ten minutes, or the export token of a banned user. Deleted messages are not included. The policy limits the exports of a user in an hour.",
    "responses": {
     "200": {
      "description": "All data of the user",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/PersonalExport"
        },
        "example": {
         "user_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "address": "acme/alice",
         "provider_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "created_at": "2026-11-22T12:00:00Z",
         "assurance": "barcode",
         "display_name": "Alice",
         "avatar_url": null,
         "phone_number": "+12025550123",
         "push_endpoints": [
          {
           "device_id": "0a8f2d7e-1c64-4f0a-8d35-2f9b6f1e7c11",
           "push_endpoint": "arn:aws:sns:us-east-1:123456789012:endpoint/APNS/app/5e3e9847-3183-3f18-a7e8-671c3a57d4b3",
           "call_endpoint": null,
           "registered_at": "2026-11-22T12:00:00Z"
          }
         ],
         "full_name": "ALICE BAKER",
         "date_of_birth": "1996-05-17",
         "postal_address": "1 MAIN STREET, RICHMOND, VA 23219, USA",
         "document_number": "5789",
         "jurisdiction": "VA",
         "phone_verified_at": "2026-11-22T12:00:00Z",
         "identity_verified_at": "2026-11-22T12:00:00Z",
         "suspended": null,
         "age_proof": null,
         "cards": [
          {
           "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
           "status": "verified",
           "submitted_at": "2026-11-22T12:00:00Z",
           "checks": [
            {
             "name": "unexpired",
             "result": "passed"
            }
           ],
           "full_name": "ALICE BAKER",
           "date_of_birth": "1996-05-17",
           "address": "acme/alice",
           "document_number": "5789",
           "expires_on": "2030-05-17",
           "issuer_signature": "none",
           "signed_credential": null
          }
         ],
         "sessions": [
          {
           "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
           "device_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
           "app_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
           "created_at": "2026-11-22T12:00:00Z",
           "last_used_at": "2026-11-22T12:00:00Z",
           "device_attestation": "none"
          }
         ],
         "sign_ins": [
          {
           "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
           "at": "2026-11-22T12:00:00Z",
           "act": "open",
           "code": null,
           "reason": null,
           "device_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
           "app_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
           "session_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715"
          }
         ],
         "authorizations": [
          {
           "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
           "box": "in",
           "state": "REQUEST",
           "to": "acme/bob",
           "event_id": "event-1",
           "grant": null,
           "created_at": "2026-11-22T12:00:00Z"
          }
         ],
         "blocked": [
          "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715"
         ],
         "blocked_requesters": [],
         "findable_addresses": [
          "name"
         ],
         "presence": "visible",
         "last_seen": "2026-11-22T12:00:00Z",
         "forbidden_apps": [],
         "message_storage": "keep",
         "streams": [],
         "messages": [],
         "message_metadata": [],
         "notifications": []
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     },
     {
      "mutualTLS": [],
      "exportToken": []
     }
    ]
   }
  },
  "/me/apps": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "get": {
    "operationId": "listApps",
    "tags": [
     "Users"
    ],
    "summary": "List the apps that may read your data",
    "description": "They have sessions of the user, or the user forbids them.",
    "responses": {
     "200": {
      "description": "The user's apps",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "apps": {
           "type": "array",
           "items": {
            "type": "object",
            "properties": {
             "app_id": {
              "type": "string",
              "format": "uuid"
             },
             "name": {
              "type": "string"
             },
             "sessions": {
              "type": "integer",
              "minimum": 0,
              "description": "Sessions that have not ended"
             },
             "last_used_at": {
              "type": [
               "string",
               "null"
              ],
              "format": "date-time",
              "description": "The last use of these sessions"
             },
             "forbidden_at": {
              "type": [
               "string",
               "null"
              ],
              "format": "date-time",
              "description": "null for an app that is allowed"
             },
             "current": {
              "type": "boolean",
              "description": "Whether the session of this request is one of the app"
             }
            },
            "required": [
             "app_id",
             "name",
             "sessions",
             "last_used_at",
             "forbidden_at",
             "current"
            ]
           }
          }
         },
         "required": [
          "apps"
         ]
        },
        "example": {
         "apps": [
          {
           "app_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
           "name": "Acme",
           "sessions": 1,
           "last_used_at": "2026-11-22T12:00:00Z",
           "forbidden_at": null,
           "current": true
          }
         ]
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/me/apps/{id}": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "put": {
    "operationId": "allowApp",
    "tags": [
     "Users"
    ],
    "summary": "Allow an app again",
    "description": "The app may open sessions again, and registers its push endpoints again. Repeating the call changes nothing.",
    "responses": {
     "204": {
      "description": "Allowed"
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "description": "not_found: the user's provider has no such app",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The app",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   },
   "delete": {
    "operationId": "forbidApp",
    "tags": [
     "Users"
    ],
    "summary": "Forbid an app",
    "description": "Its sessions of the user end at once: its next request is session_destroyed, and its push endpoints get nothing. It cannot open sessions until the user allows it again. Repeating the call changes nothing.",
    "responses": {
     "204": {
      "description": "Forbidden"
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "description": "not_found: the user's provider has no such app",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "409": {
      "description": "conflict with the state current: the session of this request is one of the app",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The app",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/authorizations": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "post": {
    "operationId": "askAuthorization",
    "tags": [
     "Authorizations"
    ],
    "summary": "Ask another user for permission to message",
    "description": "Repeating the request returns the same response. So does a recipient that does not exist or blocks the caller.",
    "responses": {
     "201": {
      "description": "Requested. The same response whether or not there is such a user, and for a repeated call",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "id": {
           "type": "string",
           "format": "uuid"
          },
          "state": {
           "const": "REQUEST"
          }
         },
         "required": [
          "id",
          "state"
         ]
        },
        "example": {
         "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "state": "REQUEST"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/LevelRequired"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "$ref": "#/components/responses/Conflict"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "id": {
          "type": "string",
          "format": "uuid",
          "description": "Made by the requester's app. The authorization keeps this id"
         },
         "to": {
          "type": "string",
          "description": "A user id, or an address: <provider>/<user>"
         },
         "event_id": {
          "type": [
           "string",
           "null"
          ],
          "description": "Opaque, 1 to 256 bytes"
         }
        },
        "required": [
         "id",
         "to"
        ],
        "additionalProperties": false
       },
       "example": {
        "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
        "to": "acme/bob"
       }
      }
     }
    },
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   },
   "get": {
    "operationId": "listAuthorizations",
    "tags": [
     "Authorizations"
    ],
    "summary": "List the user's authorizations",
    "description": "Newest first, 50 a page.",
    "responses": {
     "200": {
      "description": "One page",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/AuthorizationPage"
        },
        "example": {
         "authorizations": [
          {
           "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
           "box": "in",
           "state": "REQUEST",
           "created_at": "2026-11-22T12:00:00Z",
           "expires_at": "2026-12-06T12:00:00Z",
           "changed_at": "2026-11-22T12:00:00Z",
           "to": null,
           "event_id": null,
           "grant": null,
           "block": "/authorizations/7f3d5cf7-a8d5-475e-8115-cde5cfb0e715/block",
           "partner": {
            "user_id": null,
            "address": null,
            "display_name": null,
            "initials": "AB",
            "age": 30,
            "picture_url": "https://images.acme.example/alice.png",
            "assurance": "barcode",
            "push_endpoint": null
           }
          }
         ],
         "cursor": null
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/LevelRequired"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "box",
      "in": "query",
      "required": false,
      "description": "One side, or both if omitted",
      "schema": {
       "type": "string",
       "enum": [
        "in",
        "out"
       ]
      }
     },
     {
      "name": "state",
      "in": "query",
      "required": false,
      "description": "One state, or all if omitted",
      "schema": {
       "type": "string",
       "enum": [
        "REQUEST",
        "APPROVAL",
        "REJECTED",
        "CANCELLED",
        "EXPIRED",
        "BANNED"
       ]
      }
     },
     {
      "name": "cursor",
      "in": "query",
      "required": false,
      "description": "The cursor of the previous page",
      "schema": {
       "type": "string"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/authorizations/{id}": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "get": {
    "operationId": "showAuthorization",
    "tags": [
     "Authorizations"
    ],
    "summary": "Show one authorization",
    "description": "The members that the caller's side may see.",
    "responses": {
     "200": {
      "description": "The authorization",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/Authorization"
        },
        "example": {
         "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "box": "in",
         "state": "REQUEST",
         "created_at": "2026-11-22T12:00:00Z",
         "expires_at": "2026-12-06T12:00:00Z",
         "changed_at": "2026-11-22T12:00:00Z",
         "to": null,
         "event_id": null,
         "grant": null,
         "block": "/authorizations/7f3d5cf7-a8d5-475e-8115-cde5cfb0e715/block",
         "partner": {
          "user_id": null,
          "address": null,
          "display_name": null,
          "initials": "AB",
          "age": 30,
          "picture_url": "https://images.acme.example/alice.png",
          "assurance": "barcode",
          "push_endpoint": null
         }
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/LevelRequired"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The authorization's id",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/blocks/{id}": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "put": {
    "operationId": "blockUser",
    "tags": [
     "Authorizations"
    ],
    "summary": "Block a user",
    "description": "Ends the permission of the two users, and the caller's own request.",
    "responses": {
     "204": {
      "description": "Blocked, whether or not there is such a user"
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "description": "conflict: state is full",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The other user's id",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   },
   "delete": {
    "operationId": "unblockUser",
    "tags": [
     "Authorizations"
    ],
    "summary": "Unblock a user",
    "description": "A permission that ended is not restored.",
    "responses": {
     "204": {
      "description": "Not blocked"
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The other user's id",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/authorizations/{id}/approval": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "post": {
    "operationId": "approveAuthorization",
    "tags": [
     "Authorizations"
    ],
    "summary": "Approve a request",
    "description": "For the recipient. Both may message each other from now on. The caller's own request to the other user becomes CANCELLED. If the other user approved that request before, the answer is its row.",
    "responses": {
     "200": {
      "description": "Done, now or before",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/Authorization"
        },
        "example": {
         "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "box": "in",
         "state": "APPROVAL",
         "created_at": "2026-11-22T12:00:00Z",
         "expires_at": null,
         "changed_at": "2026-11-22T12:00:00Z",
         "to": null,
         "event_id": null,
         "grant": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715 -> 1c0a4f5e-6a0b-4d6e-9f43-2f6d0f3a9b11",
         "block": "/authorizations/7f3d5cf7-a8d5-475e-8115-cde5cfb0e715/block",
         "partner": {
          "user_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
          "address": "acme/alice",
          "display_name": "Alice",
          "initials": "AB",
          "age": 30,
          "picture_url": "https://images.acme.example/alice.png",
          "assurance": "barcode",
          "push_endpoint": "arn:aws:sns:us-east-1:123456789012:endpoint/APNS/app/5e3e9847-3183-3f18-a7e8-671c3a57d4b3"
         }
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/LevelRequired"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "$ref": "#/components/responses/Conflict"
     },
     "410": {
      "description": "gone: the recipient did not respond in time",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The authorization's id",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/authorizations/{id}/rejection": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "post": {
    "operationId": "rejectAuthorization",
    "tags": [
     "Authorizations"
    ],
    "summary": "Reject a request",
    "description": "For the recipient. The requester may ask again after 30 days. The caller's own request to the other user becomes CANCELLED. If the other user approved that request before, the permission ends.",
    "responses": {
     "200": {
      "description": "Done, now or before",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/Authorization"
        },
        "example": {
         "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "box": "in",
         "state": "REJECTED",
         "created_at": "2026-11-22T12:00:00Z",
         "expires_at": null,
         "changed_at": "2026-11-22T12:00:00Z",
         "to": null,
         "event_id": null,
         "grant": null,
         "block": "/authorizations/7f3d5cf7-a8d5-475e-8115-cde5cfb0e715/block",
         "partner": null
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "$ref": "#/components/responses/Conflict"
     },
     "410": {
      "description": "gone: the recipient did not respond in time",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The authorization's id",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/authorizations/{id}/cancellation": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "post": {
    "operationId": "cancelAuthorization",
    "tags": [
     "Authorizations"
    ],
    "summary": "Cancel a request or a permission",
    "description": "For the requester of an open request, and for both sides of an approved one. Cancelling a request that ended by the approval of the other user's request ends the permission.",
    "responses": {
     "200": {
      "description": "Done, now or before",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/Authorization"
        },
        "example": {
         "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "box": "out",
         "state": "CANCELLED",
         "created_at": "2026-11-22T12:00:00Z",
         "expires_at": null,
         "changed_at": "2026-11-22T12:00:00Z",
         "to": "acme/bob",
         "event_id": "event-1",
         "grant": null,
         "block": null,
         "partner": null
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "$ref": "#/components/responses/Conflict"
     },
     "410": {
      "description": "gone: the recipient did not respond in time",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The authorization's id",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/authorizations/{id}/block": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "post": {
    "operationId": "blockRequester",
    "tags": [
     "Authorizations"
    ],
    "summary": "Block the requester",
    "description": "For the recipient, who need not know the requester's id. Ends the permission of the two users, and the caller's own request. The request disappears for the caller and continues for the requester.",
    "responses": {
     "204": {
      "description": "Blocked, now or before"
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "description": "conflict: state is full",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The authorization's id",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   },
   "delete": {
    "operationId": "unblockRequester",
    "tags": [
     "Authorizations"
    ],
    "summary": "Unblock the requester",
    "description": "For the recipient. A permission that ended is not restored.",
    "responses": {
     "204": {
      "description": "Not blocked"
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The authorization's id",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/streams": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "post": {
    "operationId": "openStream",
    "tags": [
     "Streams"
    ],
    "summary": "Open a stream",
    "description": "Repeating the request returns the same response. The caller is always a member.",
    "responses": {
     "201": {
      "description": "Opened. The same response for a repeated call",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "id": {
           "type": "string",
           "format": "uuid"
          },
          "kind": {
           "type": "string",
           "enum": [
            "direct",
            "conversation",
            "forum",
            "call"
           ]
          },
          "created_at": {
           "type": "string",
           "format": "date-time"
          }
         },
         "required": [
          "id",
          "kind",
          "created_at"
         ]
        },
        "example": {
         "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "kind": "direct",
         "created_at": "2026-11-22T12:00:00Z"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/LevelRequired"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "$ref": "#/components/responses/Conflict"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "id": {
          "type": "string",
          "format": "uuid",
          "description": "Made by the app. The stream keeps this id"
         },
         "kind": {
          "type": "string",
          "enum": [
           "direct",
           "conversation",
           "forum",
           "call"
          ]
         },
         "members": {
          "type": "array",
          "maxItems": 24,
          "items": {
           "type": "string",
           "description": "A user id, or an address: <provider>/<user>"
          }
         },
         "title": {
          "type": [
           "string",
           "null"
          ],
          "description": "1 to 255 bytes of UTF-8, not only blanks"
         },
         "description": {
          "type": [
           "string",
           "null"
          ],
          "description": "1 to 4,096 bytes of UTF-8, not only blanks"
         },
         "image_url": {
          "type": [
           "string",
           "null"
          ],
          "description": "https, at most 2,048 bytes"
         },
         "metadata": {
          "type": [
           "object"
          ]
         }
        },
        "required": [
         "id",
         "kind"
        ],
        "additionalProperties": false
       },
       "example": {
        "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
        "kind": "direct",
        "members": [
         "acme/bob"
        ]
       }
      }
     }
    },
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   },
   "get": {
    "operationId": "listStreams",
    "tags": [
     "Streams"
    ],
    "summary": "List the user's streams, or the forums of the user's provider",
    "description": "Newest change first. A page may be shorter than the next one, or empty if there is a filter. The list ends with the streams that changed after the first page, even if an earlier page has them.",
    "responses": {
     "200": {
      "description": "One page",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "streams": {
           "type": "array",
           "items": {
            "$ref": "#/components/schemas/MessageStream"
           }
          },
          "cursor": {
           "type": [
            "string",
            "null"
           ]
          }
         },
         "required": [
          "streams",
          "cursor"
         ]
        },
        "example": {
         "streams": [
          {
           "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
           "kind": "direct",
           "state": "open",
           "created_by": "b4a1d8f2-6a63-4b0e-8a34-8f0f6cb7a001",
           "created_at": "2026-11-22T12:00:00Z",
           "title": null,
           "description": null,
           "image_url": null,
           "last_sequence": 1,
           "unread": 0,
           "last_event": {
            "sequence": 1,
            "id": "0c8f2a55-1c5e-4d0e-9b7e-3f2d7c1a9e10",
            "sender": "b4a1d8f2-6a63-4b0e-8a34-8f0f6cb7a001",
            "sent_at": "2026-11-22T12:00:00Z",
            "in_reply_to": null,
            "thread": null,
            "deleted": false,
            "expired": false,
            "parts": [
             {
              "type": "text/plain",
              "body": "Hello"
             }
            ]
           },
           "members": [
            {
             "user_id": "b4a1d8f2-6a63-4b0e-8a34-8f0f6cb7a001",
             "address": "acme/alice",
             "display_name": "Alice",
             "initials": "AB",
             "picture_url": "https://images.acme.example/alice.png",
             "assurance": "barcode",
             "delivered_through": 1,
             "read_through": 1
            }
           ],
           "message_storage": "keep",
           "profiles": []
          }
         ],
         "cursor": null
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "kind",
      "in": "query",
      "required": false,
      "description": "One kind. forum lists the provider's forums, any other kind the user's own streams",
      "schema": {
       "type": "string",
       "enum": [
        "direct",
        "conversation",
        "forum",
        "call"
       ]
      }
     },
     {
      "name": "member",
      "in": "query",
      "required": false,
      "description": "A user id or an address (<provider>/<user>). Streams in which the caller and this user are members. malformed_request with kind=forum",
      "schema": {
       "type": "string"
      }
     },
     {
      "name": "metadata.shared.",
      "in": "query",
      "required": false,
      "style": "form",
      "explode": true,
      "description": "Values of the shared metadata, such as metadata.shared.topic=news. The policy indexed_metadata declares the names, which no call returns. true finds true and the string true. A value has at most 256 bytes of UTF-8. Together with metadata.private. 8 values at most",
      "schema": {
       "type": "object",
       "maxProperties": 8,
       "propertyNames": {
        "pattern": "^metadata\\.shared\\.[A-Za-z0-9._~-]{1,64}$"
       },
       "additionalProperties": {
        "type": "string",
        "maxLength": 256
       }
      }
     },
     {
      "name": "metadata.private.",
      "in": "query",
      "required": false,
      "style": "form",
      "explode": true,
      "description": "Values of the caller's private metadata, such as metadata.private.pinned=true, in the same form. malformed_request with kind=forum",
      "schema": {
       "type": "object",
       "maxProperties": 8,
       "propertyNames": {
        "pattern": "^metadata\\.private\\.[A-Za-z0-9._~-]{1,64}$"
       },
       "additionalProperties": {
        "type": "string",
        "maxLength": 256
       }
      }
     },
     {
      "name": "cursor",
      "in": "query",
      "required": false,
      "description": "The cursor of the previous page",
      "schema": {
       "type": "string"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/streams/{id}": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "get": {
    "operationId": "showStream",
    "tags": [
     "Streams"
    ],
    "summary": "Show a stream",
    "description": "With its metadata.",
    "responses": {
     "200": {
      "description": "The stream",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/MessageStream"
        },
        "example": {
         "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "kind": "direct",
         "state": "open",
         "created_by": "b4a1d8f2-6a63-4b0e-8a34-8f0f6cb7a001",
         "created_at": "2026-11-22T12:00:00Z",
         "title": null,
         "description": null,
         "image_url": null,
         "last_sequence": 1,
         "unread": 0,
         "last_event": {
          "sequence": 1,
          "id": "0c8f2a55-1c5e-4d0e-9b7e-3f2d7c1a9e10",
          "sender": "b4a1d8f2-6a63-4b0e-8a34-8f0f6cb7a001",
          "sent_at": "2026-11-22T12:00:00Z",
          "in_reply_to": null,
          "thread": null,
          "deleted": false,
          "expired": false,
          "parts": [
           {
            "type": "text/plain",
            "body": "Hello"
           }
          ]
         },
         "members": [
          {
           "user_id": "b4a1d8f2-6a63-4b0e-8a34-8f0f6cb7a001",
           "address": "acme/alice",
           "display_name": "Alice",
           "initials": "AB",
           "picture_url": "https://images.acme.example/alice.png",
           "assurance": "barcode",
           "delivered_through": 1,
           "read_through": 1
          }
         ],
         "message_storage": "keep",
         "profiles": [],
         "metadata": {},
         "private_metadata": {}
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The stream",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   },
   "delete": {
    "operationId": "deleteStream",
    "tags": [
     "Streams"
    ],
    "summary": "Delete a stream for all members",
    "description": "For either side of a direct stream or a call, each member of a conversation, and the creator of a forum. Its key is deleted. It ends a call: the callee declines, or a user hangs up.",
    "responses": {
     "204": {
      "description": "Deleted, now or before"
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "$ref": "#/components/responses/Conflict"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The stream",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/streams/{id}/events": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "post": {
    "operationId": "appendEvent",
    "tags": [
     "Streams"
    ],
    "summary": "Append a message",
    "description": "The parts have 64 KiB of content at most, however the request is written. Repeating the request returns the same response.",
    "responses": {
     "201": {
      "description": "Appended. The same response for a repeated call",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "id": {
           "type": "string",
           "format": "uuid"
          },
          "sequence": {
           "type": "integer",
           "minimum": 1
          },
          "sent_at": {
           "type": "string",
           "format": "date-time"
          },
          "thread": {
           "type": "string",
           "format": "uuid"
          }
         },
         "required": [
          "id",
          "sequence",
          "sent_at"
         ]
        },
        "example": {
         "id": "0c8f2a55-1c5e-4d0e-9b7e-3f2d7c1a9e10",
         "sequence": 1,
         "sent_at": "2026-11-22T12:00:00Z"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/LevelRequired"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "$ref": "#/components/responses/Conflict"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "id": {
          "type": "string",
          "format": "uuid",
          "description": "Made by the app"
         },
         "parts": {
          "type": "array",
          "minItems": 1,
          "maxItems": 16,
          "items": {
           "type": "object",
           "properties": {
            "type": {
             "type": "string",
             "description": "A media type without parameters"
            },
            "body": {
             "type": "string"
            },
            "body_base64": {
             "type": "string",
             "description": "base64url without padding"
            }
           },
           "required": [
            "type"
           ],
           "additionalProperties": false
          }
         },
         "in_reply_to": {
          "type": [
           "string",
           "null"
          ],
          "format": "uuid"
         }
        },
        "required": [
         "id",
         "parts"
        ],
        "additionalProperties": false
       },
       "example": {
        "id": "0c8f2a55-1c5e-4d0e-9b7e-3f2d7c1a9e10",
        "parts": [
         {
          "type": "text/plain",
          "body": "Hello"
         }
        ]
       }
      }
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The stream",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   },
   "get": {
    "operationId": "readEvents",
    "tags": [
     "Streams"
    ],
    "summary": "Read messages",
    "description": "After a number oldest first, otherwise newest first. A page ends early if bodies are long.",
    "responses": {
     "200": {
      "description": "One page",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "events": {
           "type": "array",
           "maxItems": 100,
           "items": {
            "$ref": "#/components/schemas/StreamEvent"
           }
          },
          "more": {
           "type": "boolean"
          },
          "last_sequence": {
           "type": "integer",
           "minimum": 0
          },
          "profiles": {
           "type": "array",
           "maxItems": 100,
           "description": "The senders, each once. A removed user sees no names of them",
           "items": {
            "$ref": "#/components/schemas/PublicProfile"
           }
          }
         },
         "required": [
          "events",
          "more",
          "last_sequence",
          "profiles"
         ]
        },
        "example": {
         "events": [
          {
           "sequence": 1,
           "id": "0c8f2a55-1c5e-4d0e-9b7e-3f2d7c1a9e10",
           "sender": "b4a1d8f2-6a63-4b0e-8a34-8f0f6cb7a001",
           "sent_at": "2026-11-22T12:00:00Z",
           "in_reply_to": null,
           "thread": null,
           "deleted": false,
           "expired": false,
           "parts": [
            {
             "type": "text/plain",
             "body": "Hello"
            }
           ]
          }
         ],
         "more": false,
         "last_sequence": 1,
         "profiles": [
          {
           "user_id": "b4a1d8f2-6a63-4b0e-8a34-8f0f6cb7a001",
           "address": "acme/alice",
           "display_name": "Alice",
           "initials": "AB",
           "picture_url": "https://images.acme.example/alice.png"
          }
         ]
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "$ref": "#/components/responses/Conflict"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The stream",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     },
     {
      "name": "after",
      "in": "query",
      "required": false,
      "description": "Messages after this number, oldest first. Not together with before",
      "schema": {
       "type": "integer",
       "minimum": 0
      }
     },
     {
      "name": "before",
      "in": "query",
      "required": false,
      "description": "Messages before this number, newest first. Not together with after",
      "schema": {
       "type": "integer",
       "minimum": 0
      }
     },
     {
      "name": "limit",
      "in": "query",
      "required": false,
      "description": "At most 100",
      "schema": {
       "type": "integer",
       "minimum": 1,
       "maximum": 100
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/streams/{id}/events/{event}": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "delete": {
    "operationId": "deleteEvent",
    "tags": [
     "Streams"
    ],
    "summary": "Delete a message for all members",
    "description": "For the sender, and in conversations and forums also for the stream's creator.",
    "responses": {
     "204": {
      "description": "Deleted, now or before"
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "$ref": "#/components/responses/Conflict"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The stream",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     },
     {
      "name": "event",
      "in": "path",
      "required": true,
      "description": "The message",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/streams/{id}/events/{event}/copy": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "delete": {
    "operationId": "deleteEventForMe",
    "tags": [
     "Streams"
    ],
    "summary": "Delete a message for the user only",
    "description": "It is deleted on all of the user's devices, with the user's private metadata of it. Other members keep it. To the user it is a deleted message, and unread does not change. It works in a closed stream, too.",
    "responses": {
     "204": {
      "description": "Deleted, now or before"
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "$ref": "#/components/responses/Conflict"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The stream",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     },
     {
      "name": "event",
      "in": "path",
      "required": true,
      "description": "The message",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/streams/{id}/events/{event}/metadata": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "patch": {
    "operationId": "changeEventMetadata",
    "tags": [
     "Streams"
    ],
    "summary": "Change the metadata of a message that all members see",
    "description": "Either set or merge. For users who may append to the stream and see the message. A deleted or expired message is not_found. Up to 50 names, 8 levels and 4,096 bytes, otherwise malformed_request.",
    "responses": {
     "200": {
      "description": "The current metadata",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "metadata": {
           "type": "object"
          }
         },
         "required": [
          "metadata"
         ]
        },
        "example": {
         "metadata": {
          "reaction": "heart"
         }
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/LevelRequired"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "$ref": "#/components/responses/Conflict"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "set": {
          "type": "object",
          "description": "Replaces the metadata. {} removes all"
         },
         "merge": {
          "type": "object",
          "description": "A merge patch (RFC 7396): null removes a member. {} changes nothing"
         }
        },
        "additionalProperties": false
       },
       "example": {
        "merge": {
         "reaction": "heart"
        }
       }
      }
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The stream",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     },
     {
      "name": "event",
      "in": "path",
      "required": true,
      "description": "The message",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/streams/{id}/events/{event}/metadata/private": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "patch": {
    "operationId": "changePrivateEventMetadata",
    "tags": [
     "Streams"
    ],
    "summary": "Change the metadata of a message that only the user sees",
    "description": "Either set or merge. A deleted or expired message is not_found. Up to 50 names, 8 levels and 4,096 bytes, otherwise malformed_request.",
    "responses": {
     "200": {
      "description": "The current metadata",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "private_metadata": {
           "type": "object"
          }
         },
         "required": [
          "private_metadata"
         ]
        },
        "example": {
         "private_metadata": {
          "favourite": true
         }
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "$ref": "#/components/responses/Conflict"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "set": {
          "type": "object",
          "description": "Replaces the metadata. {} removes all"
         },
         "merge": {
          "type": "object",
          "description": "A merge patch (RFC 7396): null removes a member. {} changes nothing"
         }
        },
        "additionalProperties": false
       },
       "example": {
        "merge": {
         "favourite": true
        }
       }
      }
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The stream",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     },
     {
      "name": "event",
      "in": "path",
      "required": true,
      "description": "The message",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/streams/{id}/receipts": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "post": {
    "operationId": "raiseReceipts",
    "tags": [
     "Streams"
    ],
    "summary": "Report how far the user has read",
    "description": "Both numbers only rise. A read message is also delivered.",
    "responses": {
     "200": {
      "description": "The current receipts of the user in this stream",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "delivered_through": {
           "type": "integer",
           "minimum": 0
          },
          "read_through": {
           "type": "integer",
           "minimum": 0
          }
         },
         "required": [
          "delivered_through",
          "read_through"
         ]
        },
        "example": {
         "delivered_through": 2,
         "read_through": 1
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "$ref": "#/components/responses/Conflict"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "delivered_through": {
          "type": [
           "integer",
           "null"
          ],
          "minimum": 0
         },
         "read_through": {
          "type": [
           "integer",
           "null"
          ],
          "minimum": 0
         }
        },
        "additionalProperties": false
       },
       "example": {
        "read_through": 1
       }
      }
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The stream",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/streams/{id}/typing": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "post": {
    "operationId": "sayTyping",
    "tags": [
     "Streams"
    ],
    "summary": "Report that the user is writing",
    "description": "Members that wait in /sync at this moment see it. It is not stored. More than once a second it has no effect.",
    "responses": {
     "204": {
      "description": "Reported to waiting members"
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "$ref": "#/components/responses/Conflict"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The stream",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/streams/{id}/members/{user}": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "put": {
    "operationId": "addMember",
    "tags": [
     "Streams"
    ],
    "summary": "Add a user to a conversation",
    "description": "The user sees all messages.",
    "responses": {
     "204": {
      "description": "A member, now or before"
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/LevelRequired"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "$ref": "#/components/responses/Conflict"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The stream",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     },
     {
      "name": "user",
      "in": "path",
      "required": true,
      "description": "The user id. An address is an unknown user",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   },
   "delete": {
    "operationId": "removeMember",
    "tags": [
     "Streams"
    ],
    "summary": "Remove a user from a conversation, or leave it",
    "description": "The user keeps the messages sent so far.",
    "responses": {
     "204": {
      "description": "Not a member, now or before"
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/LevelRequired"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "$ref": "#/components/responses/Conflict"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The stream",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     },
     {
      "name": "user",
      "in": "path",
      "required": true,
      "description": "The user id. An address is an unknown user",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/streams/{id}/metadata": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "patch": {
    "operationId": "changeMetadata",
    "tags": [
     "Streams"
    ],
    "summary": "Change the metadata that all members see",
    "description": "Either set or merge. In a forum only for its creator. Up to 200 names, 8 levels and 16,384 bytes, otherwise malformed_request.",
    "responses": {
     "200": {
      "description": "The current metadata",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "metadata": {
           "type": "object"
          }
         },
         "required": [
          "metadata"
         ]
        },
        "example": {
         "metadata": {
          "colour": "green"
         }
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/LevelRequired"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "$ref": "#/components/responses/Conflict"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "set": {
          "type": "object",
          "description": "Replaces the metadata. {} removes all"
         },
         "merge": {
          "type": "object",
          "description": "A merge patch (RFC 7396): null removes a member. {} changes nothing"
         }
        },
        "additionalProperties": false
       },
       "example": {
        "merge": {
         "colour": "green",
         "old": null
        }
       }
      }
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The stream",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/streams/{id}/metadata/private": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "patch": {
    "operationId": "changePrivateMetadata",
    "tags": [
     "Streams"
    ],
    "summary": "Change the metadata that only the user sees",
    "description": "Either set or merge. Up to 200 names, 8 levels and 16,384 bytes, otherwise malformed_request.",
    "responses": {
     "200": {
      "description": "The current metadata",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "private_metadata": {
           "type": "object"
          }
         },
         "required": [
          "private_metadata"
         ]
        },
        "example": {
         "private_metadata": {
          "muted": true
         }
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "$ref": "#/components/responses/Conflict"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "set": {
          "type": "object",
          "description": "Replaces the metadata. {} removes all"
         },
         "merge": {
          "type": "object",
          "description": "A merge patch (RFC 7396): null removes a member. {} changes nothing"
         }
        },
        "additionalProperties": false
       },
       "example": {
        "merge": {
         "muted": true
        }
       }
      }
     }
    },
    "parameters": [
     {
      "name": "id",
      "in": "path",
      "required": true,
      "description": "The stream",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/sync": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "get": {
    "operationId": "synchronize",
    "tags": [
     "Streams"
    ],
    "summary": "Get changes",
    "description": "The latest state of each change since an anchor. Without a change the call waits. If its session ends or is challenged meanwhile, it is refused at once.",
    "responses": {
     "200": {
      "description": "The operations, or none if the wait ended",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "anchor": {
           "type": "string"
          },
          "more": {
           "type": "boolean"
          },
          "operations": {
           "type": "array",
           "maxItems": 100,
           "items": {
            "type": "object",
            "properties": {
             "operation": {
              "type": "string",
              "enum": [
               "NEW_MESSAGE",
               "UPDATE_STATUS",
               "UPDATE_TAGS",
               "MEMBERS",
               "DELETED",
               "ERASED",
               "NOTIFICATION"
              ]
             },
             "stream_id": {
              "type": [
               "string",
               "null"
              ],
              "format": "uuid",
              "description": "null for NOTIFICATION"
             },
             "event_id": {
              "type": [
               "string",
               "null"
              ],
              "format": "uuid",
              "description": "The message that was deleted, or whose metadata changed. null for a change of the stream"
             },
             "stream": {
              "oneOf": [
               {
                "$ref": "#/components/schemas/MessageStream"
               },
               {
                "type": "null"
               }
              ],
              "description": "The current stream. null for DELETED, NOTIFICATION and a change of a message, and if the user can no longer see it"
             },
             "event": {
              "oneOf": [
               {
                "$ref": "#/components/schemas/EventMetadata"
               },
               {
                "type": "null"
               }
              ],
              "description": "The current metadata of the message, or null for other operations"
             },
             "notification": {
              "oneOf": [
               {
                "$ref": "#/components/schemas/UserNotification"
               },
               {
                "type": "null"
               }
              ],
              "description": "The notification of the user's provider, or null for other operations"
             }
            },
            "required": [
             "operation",
             "stream_id",
             "event_id",
             "stream",
             "event",
             "notification"
            ]
           }
          },
          "typing": {
           "type": "array",
           "description": "The users that are writing",
           "items": {
            "type": "object",
            "properties": {
             "stream_id": {
              "type": "string",
              "format": "uuid"
             },
             "user_id": {
              "type": "string",
              "format": "uuid"
             }
            },
            "required": [
             "stream_id",
             "user_id"
            ]
           }
          },
          "presence": {
           "type": "array",
           "description": "The presence of the users in the parameter presence",
           "maxItems": 50,
           "items": {
            "$ref": "#/components/schemas/UserPresence"
           }
          },
          "wait": {
           "type": "integer",
           "description": "The longest wait that was allowed for this call, in seconds: that of the request, within the service's limit"
          }
         },
         "required": [
          "anchor",
          "more",
          "operations",
          "typing",
          "presence",
          "wait"
         ]
        },
        "example": {
         "anchor": "1f0c2b7a.3.1795348800",
         "more": false,
         "operations": [
          {
           "operation": "NEW_MESSAGE",
           "stream_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
           "event_id": null,
           "stream": {
            "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
            "kind": "direct",
            "state": "open",
            "created_by": "b4a1d8f2-6a63-4b0e-8a34-8f0f6cb7a001",
            "created_at": "2026-11-22T12:00:00Z",
            "title": null,
            "description": null,
            "image_url": null,
            "last_sequence": 1,
            "unread": 0,
            "last_event": {
             "sequence": 1,
             "id": "0c8f2a55-1c5e-4d0e-9b7e-3f2d7c1a9e10",
             "sender": "b4a1d8f2-6a63-4b0e-8a34-8f0f6cb7a001",
             "sent_at": "2026-11-22T12:00:00Z",
             "in_reply_to": null,
             "thread": null,
             "deleted": false,
             "expired": false,
             "parts": [
              {
               "type": "text/plain",
               "body": "Hello"
              }
             ]
            },
            "members": [
             {
              "user_id": "b4a1d8f2-6a63-4b0e-8a34-8f0f6cb7a001",
              "address": "acme/alice",
              "display_name": "Alice",
              "initials": "AB",
              "picture_url": "https://images.acme.example/alice.png",
              "assurance": "barcode",
              "delivered_through": 1,
              "read_through": 1
             }
            ],
            "message_storage": "keep",
            "profiles": []
           },
           "event": null,
           "notification": null
          }
         ],
         "typing": [],
         "presence": [],
         "wait": 25
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "anchor",
      "in": "query",
      "required": false,
      "description": "From the previous response, unchanged. 0 or none for the beginning, latest for the end. One that is too old, or of another store, is treated as 0. Any other text is malformed_request",
      "schema": {
       "type": "string"
      }
     },
     {
      "name": "wait",
      "in": "query",
      "required": false,
      "description": "Whole seconds, 9999 at most. Without it the call does not wait. The service waits for 25 at most by default, and the response reports how many it allowed",
      "schema": {
       "type": "integer",
       "minimum": 0
      }
     },
     {
      "name": "presence",
      "in": "query",
      "required": false,
      "description": "The users whose presence is returned, and whose changes end the wait: user ids, separated by commas, 50 at most. Addresses are malformed_request",
      "schema": {
       "type": "string"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/presence": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "get": {
    "operationId": "showPresence",
    "tags": [
     "Streams"
    ],
    "summary": "Show who is online",
    "description": "A user is online while a device waits in GET /sync or holds a push channel. Users that the caller may not see are offline.",
    "responses": {
     "200": {
      "description": "One entry for each user, in the order of the question",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "presence": {
           "type": "array",
           "maxItems": 50,
           "items": {
            "$ref": "#/components/schemas/UserPresence"
           }
          }
         },
         "required": [
          "presence"
         ]
        },
        "example": {
         "presence": [
          {
           "user_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
           "online": false,
           "last_seen": "2026-11-22T12:00:00Z"
          }
         ]
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "users",
      "in": "query",
      "required": true,
      "description": "User ids, separated by commas, 50 at most. Addresses are malformed_request",
      "schema": {
       "type": "string"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/me/addresses": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "get": {
    "operationId": "listFindableAddresses",
    "tags": [
     "Addresses"
    ],
    "summary": "List the addresses by which others can find you",
    "description": "List the addresses by which others can find you.",
    "responses": {
     "200": {
      "description": "The addresses that others can find",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "findable": {
           "type": "array",
           "items": {
            "type": "object",
            "properties": {
             "type": {
              "type": "string",
              "enum": [
               "phone",
               "name"
              ]
             },
             "since": {
              "type": "string",
              "format": "date-time"
             }
            },
            "required": [
             "type",
             "since"
            ]
           }
          }
         },
         "required": [
          "findable"
         ]
        },
        "example": {
         "findable": [
          {
           "type": "phone",
           "since": "2026-11-22T12:00:00Z"
          }
         ]
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/me/addresses/{type}": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "put": {
    "operationId": "shareAddress",
    "tags": [
     "Addresses"
    ],
    "summary": "Let others find you by an address",
    "description": "Only a proven number and the provider's own name can be shared. Repeating the call changes nothing.",
    "responses": {
     "204": {
      "description": "Findable"
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "description": "not_found: no such type",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "409": {
      "description": "conflict: prove a number first",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "type",
      "in": "path",
      "required": true,
      "description": "The kind of the user's address",
      "schema": {
       "type": "string",
       "enum": [
        "phone",
        "name"
       ]
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   },
   "delete": {
    "operationId": "hideAddress",
    "tags": [
     "Addresses"
    ],
    "summary": "Hide an address",
    "description": "Repeating the call changes nothing.",
    "responses": {
     "204": {
      "description": "Hidden"
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "$ref": "#/components/responses/CallerRefused"
     },
     "404": {
      "description": "not_found: no such type",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "type",
      "in": "path",
      "required": true,
      "description": "The kind of the user's address",
      "schema": {
       "type": "string",
       "enum": [
        "phone",
        "name"
       ]
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/addresses/resolve": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "post": {
    "operationId": "resolveAddress",
    "tags": [
     "Addresses"
    ],
    "summary": "Find a user by an address",
    "description": "Hidden and unknown addresses get the same response. Look-ups are limited by user and by device.",
    "responses": {
     "200": {
      "description": "The user",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "user_id": {
           "type": "string",
           "format": "uuid"
          }
         },
         "required": [
          "user_id"
         ]
        },
        "example": {
         "user_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "description": "not_verified with required_level (reason caller), certificate_revoked, binding_mismatch or user_banned",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "404": {
      "description": "not_found: hidden, unknown, banned, or blocking the caller",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "address": {
          "type": "string",
          "description": "A number in E.164 form, or <provider>/<user>"
         }
        },
        "required": [
         "address"
        ],
        "additionalProperties": false
       },
       "example": {
        "address": "+14155552671"
       }
      }
     }
    },
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/contact-discovery": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "get": {
    "operationId": "readContactDiscovery",
    "tags": [
     "Addresses"
    ],
    "summary": "Read the key of contact discovery",
    "description": "Private contact discovery (RFC 9497, P384-SHA384), described in Addresses.md. Each provider has its own key, and a new one each week.",
    "responses": {
     "200": {
      "description": "The week's key",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "suite": {
           "type": "string",
           "enum": [
            "P384-SHA384"
           ]
          },
          "week": {
           "type": "integer"
          },
          "ends_at": {
           "type": "string",
           "format": "date-time"
          },
          "public_key": {
           "type": "string",
           "description": "base64url of a compressed point"
          },
          "bits": {
           "type": "integer",
           "minimum": 0,
           "maximum": 8,
           "description": "The number of bits that name a bucket"
          },
          "evaluations_per_day": {
           "type": "integer"
          }
         },
         "required": [
          "suite",
          "week",
          "ends_at",
          "public_key",
          "bits",
          "evaluations_per_day"
         ]
        },
        "example": {
         "suite": "P384-SHA384",
         "week": 2968,
         "ends_at": "2026-11-26T00:00:00Z",
         "public_key": "Ax1olobGEZkbVfGh2PQwXM1stxlEb2YKMNtht6qHtGrPWbfA1KkHez2iHCXdSCIpoA",
         "bits": 0,
         "evaluations_per_day": 2000
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "description": "not_verified with required_level (reason caller), certificate_revoked, binding_mismatch or user_banned",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/contact-discovery/evaluations": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "post": {
    "operationId": "evaluateContacts",
    "tags": [
     "Addresses"
    ],
    "summary": "Evaluate blinded contacts",
    "description": "Each element is counted against the limit of the caller's proven number before it is evaluated. An evaluation is the evaluated element (49 bytes) and the proof (96 bytes).",
    "responses": {
     "200": {
      "description": "The evaluations, in the order of the elements",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "evaluations": {
           "type": "array",
           "items": {
            "type": "string",
            "description": "base64url"
           }
          }
         },
         "required": [
          "evaluations"
         ]
        },
        "example": {
         "evaluations": [
          "AkgLf9EDcYZBJCmEQri4_fj9ED2OjvgeErqfstu3aMnWrWrhsQKwgojTwRft3RWuUFz-SUJkfdQ9lzEY54UxgvAhSuLE4Qn91CQnEl25v15bdBS89Z0kBsag_caE_H7TQ_0dknBMKCfv7sPDWHhknfzIC7hA2LhbiaRdr0R-25OWEyRy9f3aLrVuV3slsnOmPw"
         ]
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "description": "not_verified with required_level (reason caller), certificate_revoked, binding_mismatch or user_banned",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "404": {
      "description": "not_found: the week has ended",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "409": {
      "description": "conflict: prove a number first",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "week": {
          "type": "integer"
         },
         "blinded": {
          "type": "array",
          "items": {
           "type": "string",
           "description": "base64url of a compressed point"
          },
          "minItems": 1,
          "maxItems": 64
         }
        },
        "required": [
         "week",
         "blinded"
        ],
        "additionalProperties": false
       },
       "example": {
        "week": 2968,
        "blinded": [
         "Ah1LykzcY7MrHGGLaBO1yVHhbbdqTvQDMeU5O9EVNz2hhFtVuvnTcu16UgNYU6rDgg"
        ]
       }
      }
     }
    },
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/contact-discovery/entries": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "get": {
    "operationId": "readContactEntries",
    "tags": [
     "Addresses"
    ],
    "summary": "Download a bucket of findable numbers",
    "description": "A bucket has at least 4096 entries, padded with decoys. An entry is a tag (16 bytes) and a masked user id (16 bytes). The examples of contact discovery are one exchange about +14155552671, whose secret values are in Addresses.md.",
    "responses": {
     "200": {
      "description": "A bucket, or a part of a large one",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "entries": {
           "type": "string",
           "description": "base64url of the concatenated entries. The example is shortened: a bucket has at least 4096"
          },
          "next": {
           "type": [
            "string",
            "null"
           ],
           "description": "The last tag, if there are more entries, or null. Send it as after in the next call"
          }
         },
         "required": [
          "entries",
          "next"
         ]
        },
        "example": {
         "entries": "veuboir4-nPln-fE08SK4RZWF912xyB3PN9svDOpHdfugu5sHesGdvGSwOnaQIZWimvWXevXpuHKV7wJNpp3dQ",
         "next": null
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "description": "not_verified with required_level (reason caller), certificate_revoked, binding_mismatch or user_banned",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "404": {
      "description": "not_found: the week has ended, or has no such bucket",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "week",
      "in": "query",
      "required": true,
      "description": "The week",
      "schema": {
       "type": "integer"
      }
     },
     {
      "name": "bucket",
      "in": "query",
      "required": true,
      "description": "The number of the bucket: the first bits of the output, 0 with 0 bits",
      "schema": {
       "type": "integer"
      }
     },
     {
      "name": "bits",
      "in": "query",
      "required": true,
      "description": "The number of bits that name the bucket",
      "schema": {
       "type": "integer"
      }
     },
     {
      "name": "after",
      "in": "query",
      "required": false,
      "description": "next of the previous part",
      "schema": {
       "type": "string"
      }
     }
    ],
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/calls/servers": {
   "servers": [
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "get": {
    "operationId": "listCallServers",
    "tags": [
     "Calls"
    ],
    "summary": "List the servers that help devices reach each other",
    "description": "In the form of WebRTC's RTCIceServer. The credentials are valid until expires_at, even if the session ends. The number in username is the same time. The credential of the example was made with the secret \"secret\".",
    "responses": {
     "200": {
      "description": "STUN and TURN servers. Empty if the operator configured none",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "ice_servers": {
           "type": "array",
           "items": {
            "type": "object",
            "properties": {
             "urls": {
              "type": "array",
              "items": {
               "type": "string"
              }
             },
             "username": {
              "type": "string"
             },
             "credential": {
              "type": "string"
             }
            },
            "required": [
             "urls"
            ]
           }
          },
          "expires_at": {
           "type": [
            "string",
            "null"
           ],
           "format": "date-time"
          }
         },
         "required": [
          "ice_servers",
          "expires_at"
         ]
        },
        "example": {
         "ice_servers": [
          {
           "urls": [
            "turn:turn.example:3478"
           ],
           "username": "1795352400:7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
           "credential": "IPGReKB2vKoIpkbZKRmpenlhgI8="
          }
         ],
         "expires_at": "2026-11-22T13:00:00Z"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/SessionRequired"
     },
     "403": {
      "description": "not_verified with required_level (reason caller), certificate_revoked, binding_mismatch or user_banned",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "security": [
     {
      "mutualTLS": [],
      "layer": []
     }
    ]
   }
  },
  "/provider": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "get": {
    "operationId": "describeProvider",
    "tags": [
     "Providers"
    ],
    "summary": "Show the provider's record, apps and keys",
    "description": "Keys that ended are included.",
    "responses": {
     "200": {
      "description": "The provider",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/Provider"
        },
        "example": {
         "provider_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "slug": "acme",
         "name": "Acme",
         "apps": [
          {
           "app_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
           "name": "Acme"
          }
         ],
         "keys": [
          {
           "key_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
           "alg": "RS256",
           "added_by": "admin",
           "state": "active",
           "created_at": "2026-11-22T12:00:00Z"
          }
         ]
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/ProviderTokenRequired"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "security": [
     {
      "providerToken": []
     }
    ]
   }
  },
  "/provider/keys": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "post": {
    "operationId": "addProviderKey",
    "tags": [
     "Providers"
    ],
    "summary": "Add a key",
    "description": "Requires a fresh bearer token: exp within 60 s of iat, jti, htm and htu (the method and the URL without query) and body_sha256. The service records the key that signed the token as the one that added the new key.",
    "responses": {
     "201": {
      "description": "Added",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "key_id": {
           "type": "string",
           "format": "uuid"
          }
         },
         "required": [
          "key_id"
         ]
        },
        "example": {
         "key_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/ProviderTokenRequired"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "description": "conflict: the current state does not allow this transition",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "422": {
      "description": "The proof in the body was refused. reason says why",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "429": {
      "description": "rate_limited, with Retry-After: a provider may send 600 proofs in a minute",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "public_key": {
          "oneOf": [
           {
            "type": "string"
           },
           {
            "type": "object"
           }
          ]
         },
         "alg": {
          "type": [
           "string",
           "null"
          ]
         },
         "proof": {
          "type": "string"
         }
        },
        "required": [
         "public_key",
         "proof"
        ],
        "additionalProperties": false
       },
       "example": {
        "public_key": "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----\n",
        "alg": "ES256",
        "proof": "eyJhbGciOiJSUzI1NiIsImN0eSI6ImxheWVyLWVpdDt2PTEiLCJ0eXAiOiJKV1MifQ.eyJwcm4iOiJhbGljZSJ9.c2lnbmF0dXJl"
       }
      }
     }
    },
    "security": [
     {
      "providerToken": []
     }
    ],
    "parameters": [
     {
      "name": "Countersign-Proof",
      "in": "header",
      "required": false,
      "description": "A fresh provider token for this request, in addition to an access token in Authorization.",
      "schema": {
       "type": "string"
      }
     }
    ]
   }
  },
  "/provider/keys/{key_id}": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "delete": {
    "operationId": "deleteProviderKey",
    "tags": [
     "Providers"
    ],
    "summary": "Delete a key",
    "description": "Requires a fresh bearer token, as for POST /provider/keys. The keys that this key added are deleted too, and so are the keys that those added.",
    "responses": {
     "204": {
      "description": "Deleted"
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/ProviderTokenRequired"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "409": {
      "description": "conflict: the current state does not allow this transition",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "description": "rate_limited, with Retry-After: a provider may send 600 proofs in a minute",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "key_id",
      "in": "path",
      "required": true,
      "description": "The key's id",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     },
     {
      "name": "sessions",
      "in": "query",
      "schema": {
       "type": "string",
       "enum": [
        "keep",
        "end"
       ]
      },
      "description": "end also ends the sessions that were opened with the key"
     },
     {
      "name": "Countersign-Proof",
      "in": "header",
      "required": false,
      "description": "A fresh provider token for this request, in addition to an access token in Authorization.",
      "schema": {
       "type": "string"
      }
     }
    ],
    "security": [
     {
      "providerToken": []
     }
    ]
   }
  },
  "/token": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    },
    {
     "url": "https://127.0.0.1:8441",
     "description": "client listener: mutual TLS with a certificate of the internal CA"
    }
   ],
   "post": {
    "operationId": "token",
    "tags": [
     "Providers"
    ],
    "summary": "Get a token (RFC 6749, RFC 7523, RFC 8693)",
    "description": "On the client listener a device opens a session (jwt-bearer, assertion) or exchanges its session's token for one that its provider verifies with the key set (token-exchange). On the public listener a provider gets an access token for its calls (client_credentials, client_assertion). Unknown parameters are ignored.",
    "responses": {
     "200": {
      "description": "The token",
      "content": {
       "application/json": {
        "schema": {
         "anyOf": [
          {
           "$ref": "#/components/schemas/GrantedSession"
          },
          {
           "$ref": "#/components/schemas/ExchangedToken"
          },
          {
           "$ref": "#/components/schemas/ProviderAccessToken"
          }
         ]
        },
        "example": {
         "access_token": "AZq5TJ8AfgCAAJ2w3hV5Kt8tAtW1sRq4v7Q2nJ5m8Rk6uZ9aL0sDfGhPoIeXcBnM",
         "token_type": "Bearer",
         "expires_in": 3600,
         "scope": "sessions.read users.read"
        }
       }
      }
     },
     "400": {
      "description": "error is invalid_request, invalid_grant, invalid_target, invalid_scope, invalid_dpop_proof or unsupported_grant_type. code is more specific",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "401": {
      "description": "invalid_client: provider_token_required or provider_token_invalid",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "403": {
      "description": "invalid_client: certificate_revoked. The connection is then closed",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "404": {
      "description": "not_found",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/OAuthPayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/OAuthUnsupportedMediaType"
     },
     "429": {
      "description": "rate_limited, with Retry-After",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "503": {
      "$ref": "#/components/responses/OAuthUnavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/x-www-form-urlencoded": {
       "schema": {
        "type": "object",
        "properties": {
         "grant_type": {
          "type": "string"
         },
         "client_id": {
          "type": "string"
         },
         "client_assertion": {
          "type": "string"
         },
         "client_assertion_type": {
          "type": "string"
         },
         "scope": {
          "type": "string",
          "description": "For client_credentials: the permissions of the token. For a token exchange: verified_claims requests the facts that a card proved. Other words are ignored."
         },
         "assertion": {
          "type": "string"
         },
         "subject_token": {
          "type": "string",
          "description": "For a token exchange: a session token, or an ID token of a registered issuer."
         },
         "subject_token_type": {
          "type": "string",
          "description": "For a token exchange: urn:ietf:params:oauth:token-type:access_token, or …:id_token."
         },
         "requested_token_type": {
          "type": "string"
         },
         "audience": {
          "type": "string",
          "description": "For a token exchange: the id of the session's provider, or a URL that is registered for it."
         },
         "resource": {
          "type": "string",
          "description": "For a token exchange: a URL that is registered for the session's provider (RFC 8707)."
         }
        },
        "required": [
         "grant_type"
        ],
        "additionalProperties": true
       },
       "example": {
        "grant_type": "client_credentials",
        "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        "client_assertion": "eyJhbGciOiJFUzI1NiJ9.e30.AA",
        "scope": "sessions.read users.read"
       }
      }
     }
    },
    "security": [
     {},
     {
      "mutualTLS": []
     }
    ],
    "parameters": [
     {
      "name": "DPoP",
      "in": "header",
      "required": false,
      "description": "For a token exchange on the client listener: a proof by the device's certified key (RFC 9449, section 4). The token is then bound to this key. Elsewhere it is ignored.",
      "schema": {
       "type": "string"
      }
     }
    ]
   }
  },
  "/introspect": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "post": {
    "operationId": "introspect",
    "tags": [
     "Providers"
    ],
    "summary": "Introspect a session token (RFC 7662)",
    "description": "active is false for anything but an authenticated session of this provider. Compare cnf with the certificate that you see.",
    "responses": {
     "200": {
      "description": "The state of the token",
      "content": {
       "application/json": {
        "schema": {
         "oneOf": [
          {
           "$ref": "#/components/schemas/ActiveSession"
          },
          {
           "$ref": "#/components/schemas/InactiveToken"
          }
         ]
        },
        "example": {
         "active": true,
         "sub": "alice",
         "user_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "sid": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "exp": 1795348800,
         "iat": 1795262400,
         "client_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "assurance": "barcode",
         "device_attestation": "app_attest",
         "cnf": {
          "x5t#S256": "BSAOM_xY1nz7r1sZ5u7nTwq0w3J2m5vQe9kPzA8dLrE"
         }
        }
       },
       "application/token-introspection+jwt": {
        "schema": {
         "type": "string",
         "description": "The response as the member token_introspection of a JWT of the service (RFC 9701), for Accept: application/token-introspection+jwt."
        }
       }
      }
     },
     "400": {
      "description": "Not readable: malformed_request",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "401": {
      "description": "provider_token_required or provider_token_invalid. error is invalid_client, or invalid_token with Authorization",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "403": {
      "$ref": "#/components/responses/OAuthInsufficientScope"
     },
     "404": {
      "description": "not_found",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/OAuthPayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/OAuthUnsupportedMediaType"
     },
     "429": {
      "description": "rate_limited, with Retry-After: a provider may send 600 proofs in a minute",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "503": {
      "$ref": "#/components/responses/OAuthUnavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/x-www-form-urlencoded": {
       "schema": {
        "type": "object",
        "properties": {
         "token": {
          "type": "string"
         },
         "client_assertion": {
          "type": "string"
         },
         "client_assertion_type": {
          "type": "string"
         }
        },
        "required": [
         "token"
        ],
        "additionalProperties": true
       },
       "example": {
        "token": "AZq5TJ8AfgCAAJ2w3hV5Kt8tAtW1sRq4v7Q2nJ5m8Rk6uZ9aL0sDfGhPoIeXcBnM"
       }
      }
     }
    },
    "security": [
     {
      "providerToken": []
     },
     {}
    ]
   }
  },
  "/revoke": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "post": {
    "operationId": "revoke",
    "tags": [
     "Providers"
    ],
    "summary": "Revoke a session token (RFC 7009)",
    "description": "An unknown token also gets 200.",
    "responses": {
     "200": {
      "description": "Revoked, or there was nothing to revoke"
     },
     "400": {
      "description": "Not readable: malformed_request",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "401": {
      "description": "provider_token_required or provider_token_invalid. error is invalid_client, or invalid_token with Authorization",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "403": {
      "$ref": "#/components/responses/OAuthInsufficientScope"
     },
     "404": {
      "description": "not_found",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/OAuthPayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/OAuthUnsupportedMediaType"
     },
     "429": {
      "description": "rate_limited, with Retry-After: a provider may send 600 proofs in a minute",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "503": {
      "$ref": "#/components/responses/OAuthUnavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/x-www-form-urlencoded": {
       "schema": {
        "type": "object",
        "properties": {
         "token": {
          "type": "string"
         },
         "client_assertion": {
          "type": "string"
         },
         "client_assertion_type": {
          "type": "string"
         }
        },
        "required": [
         "token"
        ],
        "additionalProperties": true
       },
       "example": {
        "token": "AZq5TJ8AfgCAAJ2w3hV5Kt8tAtW1sRq4v7Q2nJ5m8Rk6uZ9aL0sDfGhPoIeXcBnM"
       }
      }
     }
    },
    "security": [
     {
      "providerToken": []
     },
     {}
    ]
   }
  },
  "/provider/user-ids/{user_id}": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "get": {
    "operationId": "providerUserByID",
    "tags": [
     "Providers"
    ],
    "summary": "Find one of the provider's users by user id",
    "description": "Members of streams and senders of messages have user ids. Never a name, a number or an address. An erased user is not found.",
    "responses": {
     "200": {
      "description": "The user",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/ProviderUser"
        },
        "example": {
         "user_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "external_id": "alice",
         "assurance": "barcode",
         "age_over_18": true,
         "age_over_21": true,
         "initials": "AB",
         "banned": false
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/ProviderTokenRequired"
     },
     "403": {
      "description": "insufficient_scope: the access token lacks the scope",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "user_id",
      "in": "path",
      "required": true,
      "description": "The service's user id",
      "schema": {
       "type": "string",
       "format": "uuid"
      }
     }
    ],
    "security": [
     {
      "providerToken": []
     }
    ]
   }
  },
  "/provider/users/{external_id}": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "get": {
    "operationId": "providerUser",
    "tags": [
     "Providers"
    ],
    "summary": "Show how far one of the provider's users is verified",
    "description": "Never a name, a number or an address.",
    "responses": {
     "200": {
      "description": "The user",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/ProviderUser"
        },
        "example": {
         "user_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "external_id": "alice",
         "assurance": "barcode",
         "age_over_18": true,
         "age_over_21": true,
         "initials": "AB",
         "banned": false
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/ProviderTokenRequired"
     },
     "403": {
      "description": "insufficient_scope: the access token lacks the scope",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "external_id",
      "in": "path",
      "required": true,
      "description": "The provider's own user id, percent-encoded",
      "schema": {
       "type": "string"
      }
     }
    ],
    "security": [
     {
      "providerToken": []
     }
    ]
   }
  },
  "/provider/users/{external_id}/history": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "get": {
    "operationId": "providerUserHistory",
    "tags": [
     "Providers"
    ],
    "summary": "List the sign-ins, sessions and devices of one of the provider's users",
    "description": "Newest first, 50 events a page. Sign-ins are kept for 30 days, sessions for two days after their end, each by the policy. Only the first page has devices.",
    "responses": {
     "200": {
      "description": "A page of the history",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/ProviderUserHistory"
        },
        "example": {
         "events": [
          {
           "type": "sign_in",
           "at": "2026-03-01T14:05:10Z",
           "act": "open",
           "accepted": false,
           "code": "invalid_identity_token",
           "reason": "nonce_expired",
           "session_id": null,
           "device_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
           "app_id": null,
           "key_id": "c4d5e6f7-0819-8001-a2b3-4c5d6e7f8091"
          },
          {
           "type": "session",
           "at": "2026-03-01T09:30:00Z",
           "state": "destroyed",
           "renewed_at": "2026-03-01T09:30:00Z",
           "last_used_at": "2026-03-01T10:12:44Z",
           "ended_at": "2026-03-01T10:15:00Z",
           "end_reason": "ended by its user",
           "session_id": "0191a3c2-7f00-8001-9b1e-3f6a2c4d5e6f",
           "device_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
           "app_id": "5b0f1a3e-2c4d-8001-9e6f-7a8b9c0d1e2f",
           "key_id": "c4d5e6f7-0819-8001-a2b3-4c5d6e7f8091"
          },
          {
           "type": "sign_in",
           "at": "2026-03-01T09:30:00Z",
           "act": "open",
           "accepted": true,
           "code": null,
           "reason": null,
           "session_id": "0191a3c2-7f00-8001-9b1e-3f6a2c4d5e6f",
           "device_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
           "app_id": "5b0f1a3e-2c4d-8001-9e6f-7a8b9c0d1e2f",
           "key_id": "c4d5e6f7-0819-8001-a2b3-4c5d6e7f8091"
          }
         ],
         "devices": [
          {
           "device_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
           "first_at": "2026-02-11T08:00:12Z",
           "last_at": "2026-03-01T09:30:00Z"
          }
         ],
         "cursor": null
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/ProviderTokenRequired"
     },
     "403": {
      "description": "insufficient_scope: the access token lacks the scope",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "external_id",
      "in": "path",
      "required": true,
      "description": "The provider's own user id, percent-encoded",
      "schema": {
       "type": "string"
      }
     },
     {
      "name": "cursor",
      "in": "query",
      "required": false,
      "description": "The cursor of the previous page",
      "schema": {
       "type": "string"
      }
     }
    ],
    "security": [
     {
      "providerToken": []
     }
    ]
   }
  },
  "/provider/users/{external_id}/sessions": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "delete": {
    "operationId": "endUserSessions",
    "tags": [
     "Providers"
    ],
    "summary": "Log a user out everywhere",
    "description": "On all devices.",
    "responses": {
     "204": {
      "description": "Done"
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/ProviderTokenRequired"
     },
     "403": {
      "description": "insufficient_scope: the access token lacks the scope",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "external_id",
      "in": "path",
      "required": true,
      "description": "The provider's own user id, percent-encoded",
      "schema": {
       "type": "string"
      }
     }
    ],
    "security": [
     {
      "providerToken": []
     }
    ]
   }
  },
  "/provider/users/{external_id}/notifications": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "post": {
    "operationId": "notifyUser",
    "tags": [
     "Providers"
    ],
    "summary": "Notify a user on all devices",
    "description": "The user's devices get it with GET /sync for seven days, and of each user the newest hundred. Each device with a push endpoint also gets a push, if there is a title or a body. Repeating an id has no effect.",
    "responses": {
     "202": {
      "description": "The notification waits for the user's devices",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "id": {
           "type": "string",
           "format": "uuid"
          }
         },
         "required": [
          "id"
         ]
        },
        "example": {
         "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/ProviderTokenRequired"
     },
     "403": {
      "description": "insufficient_scope: the access token lacks the scope",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "404": {
      "description": "not_found: the provider has no such user here",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "description": "payload_too_large: 4 KiB at most",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "429": {
      "description": "rate_limited, with Retry-After: notifications_per_minute to one user, notifications_per_provider to all",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "parameters": [
     {
      "name": "external_id",
      "in": "path",
      "required": true,
      "description": "The provider's own user id, percent-encoded",
      "schema": {
       "type": "string"
      }
     }
    ],
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "id": {
          "type": "string",
          "format": "uuid",
          "description": "Made by the provider, a new one for each notification"
         },
         "title": {
          "type": [
           "string",
           "null"
          ],
          "description": "One line, without characters that cannot be seen"
         },
         "body": {
          "type": [
           "string",
           "null"
          ],
          "description": "May have lines, but no other characters that cannot be seen"
         },
         "data": {
          "type": [
           "object",
           "null"
          ],
          "additionalProperties": {
           "type": "string"
          },
          "description": "Texts for the app. No name may be aps or notification_id"
         }
        },
        "required": [
         "id"
        ],
        "additionalProperties": false
       },
       "example": {
        "id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
        "title": "ada",
        "body": "Are you there?",
        "data": {
         "UserFrom": "ada"
        }
       }
      }
     }
    },
    "security": [
     {
      "providerToken": []
     }
    ]
   }
  },
  "/provider/token-check": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "post": {
    "operationId": "checkToken",
    "tags": [
     "Providers"
    ],
    "summary": "Find every defect of an identity token",
    "description": "Creates and spends nothing. For another provider's token it reports only unknown_issuer.",
    "responses": {
     "200": {
      "description": "The defects",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "valid": {
           "type": "boolean"
          },
          "defects": {
           "type": "array",
           "items": {
            "type": "object",
            "properties": {
             "reason": {
              "type": "string"
             },
             "detail": {
              "type": "string"
             }
            },
            "required": [
             "reason",
             "detail"
            ]
           }
          },
          "ignored": {
           "type": "array",
           "description": "Claims about the user that are left out, and do not prevent a session.",
           "items": {
            "type": "object",
            "properties": {
             "claim": {
              "type": "string"
             },
             "detail": {
              "type": "string"
             }
            },
            "required": [
             "claim",
             "detail"
            ]
           }
          },
          "clock_skew_seconds": {
           "type": [
            "integer",
            "null"
           ]
          }
         },
         "required": [
          "valid",
          "defects",
          "ignored",
          "clock_skew_seconds"
         ]
        },
        "example": {
         "valid": false,
         "defects": [
          {
           "reason": "expired",
           "detail": "exp was 12 s ago."
          }
         ],
         "ignored": [
          {
           "claim": "name",
           "detail": "The claim name is not a string."
          }
         ],
         "clock_skew_seconds": -3
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/ProviderTokenRequired"
     },
     "403": {
      "description": "insufficient_scope: the access token lacks the scope",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "identity_token": {
          "type": "string"
         }
        },
        "required": [
         "identity_token"
        ],
        "additionalProperties": false
       },
       "example": {
        "identity_token": "eyJhbGciOiJSUzI1NiIsImN0eSI6ImxheWVyLWVpdDt2PTEiLCJ0eXAiOiJKV1MifQ.eyJwcm4iOiJhbGljZSJ9.c2lnbmF0dXJl"
       }
      }
     }
    },
    "security": [
     {
      "providerToken": []
     }
    ]
   }
  },
  "/provider/webhook": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "get": {
    "operationId": "showWebhook",
    "tags": [
     "Providers"
    ],
    "summary": "Show the provider's webhook",
    "description": "The normalised URL, as stored.",
    "responses": {
     "200": {
      "description": "The URL",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "url": {
           "type": "string"
          }
         },
         "required": [
          "url"
         ]
        },
        "example": {
         "url": "https://acme.example/events"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/ProviderTokenRequired"
     },
     "403": {
      "description": "insufficient_scope: the access token lacks the scope",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "security": [
     {
      "providerToken": []
     }
    ]
   },
   "put": {
    "operationId": "setWebhook",
    "tags": [
     "Providers"
    ],
    "summary": "Set the provider's webhook",
    "description": "Requires a fresh bearer token, as for POST /provider/keys. The URL must be an https URL of a public host.",
    "responses": {
     "200": {
      "description": "The URL",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "url": {
           "type": "string"
          }
         },
         "required": [
          "url"
         ]
        },
        "example": {
         "url": "https://acme.example/events"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/ProviderTokenRequired"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "429": {
      "description": "rate_limited, with Retry-After: a provider may send 600 proofs and change its webhook ten times in a minute",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "url": {
          "type": "string"
         }
        },
        "required": [
         "url"
        ],
        "additionalProperties": false
       },
       "example": {
        "url": "https://acme.example/events"
       }
      }
     }
    },
    "security": [
     {
      "providerToken": []
     }
    ],
    "parameters": [
     {
      "name": "Countersign-Proof",
      "in": "header",
      "required": false,
      "description": "A fresh provider token for this request, in addition to an access token in Authorization.",
      "schema": {
       "type": "string"
      }
     }
    ]
   },
   "delete": {
    "operationId": "removeWebhook",
    "tags": [
     "Providers"
    ],
    "summary": "Remove the provider's webhook",
    "description": "Requires a fresh bearer token, as for POST /provider/keys.",
    "responses": {
     "204": {
      "description": "No events are sent from now on"
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/ProviderTokenRequired"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "description": "rate_limited, with Retry-After: a provider may send 600 proofs and change its webhook ten times in a minute",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "security": [
     {
      "providerToken": []
     }
    ],
    "parameters": [
     {
      "name": "Countersign-Proof",
      "in": "header",
      "required": false,
      "description": "A fresh provider token for this request, in addition to an access token in Authorization.",
      "schema": {
       "type": "string"
      }
     }
    ]
   }
  },
  "/provider/webhook/test": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "post": {
    "operationId": "testWebhook",
    "tags": [
     "Providers"
    ],
    "summary": "Send a test event to the webhook",
    "description": "SSF's verification event, signed and sent as any other event. It is about no user: sub_id is opaque, with the provider's id. It is retried for five minutes.",
    "responses": {
     "202": {
      "description": "The event waits to be sent. jti is its id",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "jti": {
           "type": "string"
          }
         },
         "required": [
          "jti"
         ]
        },
        "example": {
         "jti": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/ProviderTokenRequired"
     },
     "403": {
      "description": "insufficient_scope: the access token lacks the scope",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "404": {
      "description": "not_found: the provider has set no webhook",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "429": {
      "description": "rate_limited, with Retry-After: one test in each verification_interval",
      "content": {
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "security": [
     {
      "providerToken": []
     }
    ]
   }
  },
  "/provider/events": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "post": {
    "operationId": "receiveEvent",
    "tags": [
     "Providers"
    ],
    "summary": "Receive a security event of the provider",
    "description": "A Security Event Token (RFC 8417) of the provider about one of its users: CAEP's session-revoked or RISC's account-disabled ends sessions, CAEP's credential-change (update, revoke, delete) challenges them. Its signature authenticates it, so no bearer token is needed.",
    "responses": {
     "202": {
      "description": "Accepted. A repeated event has no further effect"
     },
     "400": {
      "description": "provider_token_invalid or malformed_request. err is an error code of RFC 8935",
      "content": {
       "application/json": {
        "schema": {
         "allOf": [
          {
           "$ref": "#/components/schemas/Problem"
          },
          {
           "type": "object",
           "properties": {
            "err": {
             "type": "string",
             "enum": [
              "invalid_request",
              "invalid_key",
              "invalid_issuer",
              "invalid_audience",
              "authentication_failed"
             ]
            },
            "description": {
             "type": "string"
            }
           },
           "required": [
            "err",
            "description"
           ]
          }
         ]
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/UnsupportedMediaType"
     },
     "429": {
      "$ref": "#/components/responses/RateLimited"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/secevent+jwt": {
       "schema": {
        "type": "string"
       },
       "example": "eyJhbGciOiJSUzI1NiIsImN0eSI6ImxheWVyLWVpdDt2PTEiLCJ0eXAiOiJKV1MifQ.eyJwcm4iOiJhbGljZSJ9.c2lnbmF0dXJl"
      }
     }
    },
    "security": []
   }
  },
  "/ssf/streams": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "post": {
    "operationId": "createStream",
    "tags": [
     "Providers"
    ],
    "summary": "Create a stream of security events (SSF 1.0)",
    "description": "Without delivery the stream is polled. A push address without a fresh proof of this request in the header Countersign-Proof waits for an operator's approval. The stream is paused until then.",
    "responses": {
     "201": {
      "description": "The stream",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/EventStream"
        },
        "example": {
         "stream_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "iss": "https://auth.example",
         "aud": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "events_supported": [
          "https://schemas.openid.net/secevent/caep/event-type/session-revoked",
          "https://schemas.openid.net/secevent/caep/event-type/assurance-level-change",
          "https://schemas.openid.net/secevent/caep/event-type/credential-change",
          "https://schemas.openid.net/secevent/caep/event-type/token-claims-change",
          "https://schemas.openid.net/secevent/risc/event-type/account-disabled",
          "https://schemas.openid.net/secevent/risc/event-type/account-enabled",
          "https://schemas.openid.net/secevent/risc/event-type/account-purged"
         ],
         "events_delivered": [
          "https://schemas.openid.net/secevent/caep/event-type/session-revoked",
          "https://schemas.openid.net/secevent/caep/event-type/assurance-level-change",
          "https://schemas.openid.net/secevent/caep/event-type/credential-change",
          "https://schemas.openid.net/secevent/caep/event-type/token-claims-change",
          "https://schemas.openid.net/secevent/risc/event-type/account-disabled",
          "https://schemas.openid.net/secevent/risc/event-type/account-enabled",
          "https://schemas.openid.net/secevent/risc/event-type/account-purged"
         ],
         "delivery": {
          "method": "urn:ietf:rfc:8936",
          "endpoint_url": "https://auth.example/ssf/poll/7f3d5cf7-a8d5-475e-8115-cde5cfb0e715"
         },
         "min_verification_interval": 5,
         "signing_alg": "RS256",
         "subject_format": "iss_sub"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/OAuthMalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/OAuthProviderTokenRequired"
     },
     "403": {
      "$ref": "#/components/responses/OAuthInsufficientScope"
     },
     "404": {
      "description": "not_found, also for another provider's stream",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "409": {
      "description": "conflict",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/OAuthPayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/OAuthUnsupportedMediaType"
     },
     "429": {
      "description": "rate_limited: a provider may change streams ten times and send 600 proofs in a minute",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "503": {
      "$ref": "#/components/responses/OAuthUnavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "$ref": "#/components/schemas/EventStreamRequest"
       },
       "example": {
        "delivery": {
         "method": "urn:ietf:rfc:8935",
         "endpoint_url": "https://acme.example/events",
         "authorization_header": "Bearer 3yC0tWb1"
        },
        "events_requested": [
         "https://schemas.openid.net/secevent/caep/event-type/session-revoked"
        ]
       }
      }
     }
    },
    "security": [
     {
      "providerToken": []
     }
    ],
    "parameters": [
     {
      "name": "Countersign-Proof",
      "in": "header",
      "required": false,
      "description": "A fresh provider token for this request, in addition to an access token in Authorization.",
      "schema": {
       "type": "string"
      }
     }
    ]
   },
   "get": {
    "operationId": "readStreams",
    "tags": [
     "Providers"
    ],
    "summary": "Read a stream, or list all",
    "description": "With stream_id one stream, without it a list of all.",
    "parameters": [
     {
      "name": "stream_id",
      "in": "query",
      "required": false,
      "schema": {
       "type": "string"
      },
      "example": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715"
     }
    ],
    "responses": {
     "200": {
      "description": "The stream, or the list",
      "content": {
       "application/json": {
        "schema": {
         "oneOf": [
          {
           "$ref": "#/components/schemas/EventStream"
          },
          {
           "type": "array",
           "items": {
            "$ref": "#/components/schemas/EventStream"
           }
          }
         ]
        },
        "example": {
         "stream_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "iss": "https://auth.example",
         "aud": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "events_supported": [
          "https://schemas.openid.net/secevent/caep/event-type/session-revoked",
          "https://schemas.openid.net/secevent/caep/event-type/assurance-level-change",
          "https://schemas.openid.net/secevent/caep/event-type/credential-change",
          "https://schemas.openid.net/secevent/caep/event-type/token-claims-change",
          "https://schemas.openid.net/secevent/risc/event-type/account-disabled",
          "https://schemas.openid.net/secevent/risc/event-type/account-enabled",
          "https://schemas.openid.net/secevent/risc/event-type/account-purged"
         ],
         "events_delivered": [
          "https://schemas.openid.net/secevent/caep/event-type/session-revoked",
          "https://schemas.openid.net/secevent/caep/event-type/assurance-level-change",
          "https://schemas.openid.net/secevent/caep/event-type/credential-change",
          "https://schemas.openid.net/secevent/caep/event-type/token-claims-change",
          "https://schemas.openid.net/secevent/risc/event-type/account-disabled",
          "https://schemas.openid.net/secevent/risc/event-type/account-enabled",
          "https://schemas.openid.net/secevent/risc/event-type/account-purged"
         ],
         "delivery": {
          "method": "urn:ietf:rfc:8936",
          "endpoint_url": "https://auth.example/ssf/poll/7f3d5cf7-a8d5-475e-8115-cde5cfb0e715"
         },
         "min_verification_interval": 5,
         "signing_alg": "RS256",
         "subject_format": "iss_sub"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/OAuthMalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/OAuthProviderTokenRequired"
     },
     "403": {
      "$ref": "#/components/responses/OAuthInsufficientScope"
     },
     "404": {
      "description": "not_found, also for another provider's stream",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/OAuthPayloadTooLarge"
     },
     "429": {
      "description": "rate_limited. Repeat the call after Retry-After",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "503": {
      "$ref": "#/components/responses/OAuthUnavailable"
     }
    },
    "security": [
     {
      "providerToken": []
     }
    ]
   },
   "patch": {
    "operationId": "updateStream",
    "tags": [
     "Providers"
    ],
    "summary": "Update a stream",
    "description": "Omitted members stay as they are. Members that the transmitter sets may be repeated unchanged. Requires a fresh provider token for this request, in Authorization or in Countersign-Proof in addition to the access token.",
    "responses": {
     "200": {
      "description": "The stream",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/EventStream"
        },
        "example": {
         "stream_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "iss": "https://auth.example",
         "aud": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "events_supported": [
          "https://schemas.openid.net/secevent/caep/event-type/session-revoked",
          "https://schemas.openid.net/secevent/caep/event-type/assurance-level-change",
          "https://schemas.openid.net/secevent/caep/event-type/credential-change",
          "https://schemas.openid.net/secevent/caep/event-type/token-claims-change",
          "https://schemas.openid.net/secevent/risc/event-type/account-disabled",
          "https://schemas.openid.net/secevent/risc/event-type/account-enabled",
          "https://schemas.openid.net/secevent/risc/event-type/account-purged"
         ],
         "events_delivered": [
          "https://schemas.openid.net/secevent/caep/event-type/session-revoked",
          "https://schemas.openid.net/secevent/caep/event-type/assurance-level-change",
          "https://schemas.openid.net/secevent/caep/event-type/credential-change",
          "https://schemas.openid.net/secevent/caep/event-type/token-claims-change",
          "https://schemas.openid.net/secevent/risc/event-type/account-disabled",
          "https://schemas.openid.net/secevent/risc/event-type/account-enabled",
          "https://schemas.openid.net/secevent/risc/event-type/account-purged"
         ],
         "delivery": {
          "method": "urn:ietf:rfc:8936",
          "endpoint_url": "https://auth.example/ssf/poll/7f3d5cf7-a8d5-475e-8115-cde5cfb0e715"
         },
         "min_verification_interval": 5,
         "signing_alg": "RS256",
         "subject_format": "iss_sub"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/OAuthMalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/OAuthProviderTokenRequired"
     },
     "403": {
      "$ref": "#/components/responses/OAuthInsufficientScope"
     },
     "404": {
      "description": "not_found, also for another provider's stream",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/OAuthPayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/OAuthUnsupportedMediaType"
     },
     "429": {
      "description": "rate_limited: a provider may change streams ten times and send 600 proofs in a minute",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "503": {
      "$ref": "#/components/responses/OAuthUnavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "$ref": "#/components/schemas/EventStreamChange"
       },
       "example": {
        "stream_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
        "description": "sessions only",
        "events_requested": [
         "https://schemas.openid.net/secevent/caep/event-type/session-revoked"
        ]
       }
      }
     }
    },
    "security": [
     {
      "providerToken": []
     }
    ],
    "parameters": [
     {
      "name": "Countersign-Proof",
      "in": "header",
      "required": false,
      "description": "A fresh provider token for this request, in addition to an access token in Authorization.",
      "schema": {
       "type": "string"
      }
     }
    ]
   },
   "put": {
    "operationId": "replaceStream",
    "tags": [
     "Providers"
    ],
    "summary": "Replace a stream",
    "description": "Omitted members get their defaults. Requires a fresh provider token for this request, in Authorization or in Countersign-Proof in addition to the access token.",
    "responses": {
     "200": {
      "description": "The stream",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/EventStream"
        },
        "example": {
         "stream_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "iss": "https://auth.example",
         "aud": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "events_supported": [
          "https://schemas.openid.net/secevent/caep/event-type/session-revoked",
          "https://schemas.openid.net/secevent/caep/event-type/assurance-level-change",
          "https://schemas.openid.net/secevent/caep/event-type/credential-change",
          "https://schemas.openid.net/secevent/caep/event-type/token-claims-change",
          "https://schemas.openid.net/secevent/risc/event-type/account-disabled",
          "https://schemas.openid.net/secevent/risc/event-type/account-enabled",
          "https://schemas.openid.net/secevent/risc/event-type/account-purged"
         ],
         "events_delivered": [
          "https://schemas.openid.net/secevent/caep/event-type/session-revoked",
          "https://schemas.openid.net/secevent/caep/event-type/assurance-level-change",
          "https://schemas.openid.net/secevent/caep/event-type/credential-change",
          "https://schemas.openid.net/secevent/caep/event-type/token-claims-change",
          "https://schemas.openid.net/secevent/risc/event-type/account-disabled",
          "https://schemas.openid.net/secevent/risc/event-type/account-enabled",
          "https://schemas.openid.net/secevent/risc/event-type/account-purged"
         ],
         "delivery": {
          "method": "urn:ietf:rfc:8936",
          "endpoint_url": "https://auth.example/ssf/poll/7f3d5cf7-a8d5-475e-8115-cde5cfb0e715"
         },
         "min_verification_interval": 5,
         "signing_alg": "RS256",
         "subject_format": "iss_sub"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/OAuthMalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/OAuthProviderTokenRequired"
     },
     "403": {
      "$ref": "#/components/responses/OAuthInsufficientScope"
     },
     "404": {
      "description": "not_found, also for another provider's stream",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/OAuthPayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/OAuthUnsupportedMediaType"
     },
     "429": {
      "description": "rate_limited: a provider may change streams ten times and send 600 proofs in a minute",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "503": {
      "$ref": "#/components/responses/OAuthUnavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "$ref": "#/components/schemas/EventStreamChange"
       },
       "example": {
        "stream_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
        "delivery": {
         "method": "urn:ietf:rfc:8935",
         "endpoint_url": "https://acme.example/events",
         "authorization_header": "Bearer 3yC0tWb1"
        },
        "events_requested": [
         "https://schemas.openid.net/secevent/caep/event-type/session-revoked"
        ]
       }
      }
     }
    },
    "security": [
     {
      "providerToken": []
     }
    ],
    "parameters": [
     {
      "name": "Countersign-Proof",
      "in": "header",
      "required": false,
      "description": "A fresh provider token for this request, in addition to an access token in Authorization.",
      "schema": {
       "type": "string"
      }
     }
    ]
   },
   "delete": {
    "operationId": "deleteEventStream",
    "tags": [
     "Providers"
    ],
    "summary": "Delete a stream",
    "description": "Waiting events are dropped. Requires a fresh provider token for this request, in Authorization or in Countersign-Proof in addition to the access token.",
    "parameters": [
     {
      "name": "stream_id",
      "in": "query",
      "required": true,
      "schema": {
       "type": "string"
      },
      "example": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715"
     },
     {
      "name": "Countersign-Proof",
      "in": "header",
      "required": false,
      "description": "A fresh provider token for this request, in addition to an access token in Authorization.",
      "schema": {
       "type": "string"
      }
     }
    ],
    "responses": {
     "204": {
      "description": "Deleted"
     },
     "400": {
      "$ref": "#/components/responses/OAuthMalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/OAuthProviderTokenRequired"
     },
     "403": {
      "$ref": "#/components/responses/OAuthInsufficientScope"
     },
     "404": {
      "description": "not_found, also for another provider's stream",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/OAuthPayloadTooLarge"
     },
     "429": {
      "description": "rate_limited",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "503": {
      "$ref": "#/components/responses/OAuthUnavailable"
     }
    },
    "security": [
     {
      "providerToken": []
     }
    ]
   }
  },
  "/ssf/status": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "get": {
    "operationId": "readStreamStatus",
    "tags": [
     "Providers"
    ],
    "summary": "Read the status of a stream",
    "description": "A stream whose push address awaits approval is paused.",
    "parameters": [
     {
      "name": "stream_id",
      "in": "query",
      "required": true,
      "schema": {
       "type": "string"
      },
      "example": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715"
     }
    ],
    "responses": {
     "200": {
      "description": "The status",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/EventStreamStatus"
        },
        "example": {
         "stream_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "status": "enabled"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/OAuthMalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/OAuthProviderTokenRequired"
     },
     "403": {
      "$ref": "#/components/responses/OAuthInsufficientScope"
     },
     "404": {
      "description": "not_found, also for another provider's stream",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/OAuthPayloadTooLarge"
     },
     "429": {
      "description": "rate_limited. Repeat the call after Retry-After",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "503": {
      "$ref": "#/components/responses/OAuthUnavailable"
     }
    },
    "security": [
     {
      "providerToken": []
     }
    ]
   },
   "post": {
    "operationId": "setStreamStatus",
    "tags": [
     "Providers"
    ],
    "summary": "Set the status of a stream",
    "description": "enabled sends events, paused keeps them, disabled drops them. Requires a fresh provider token for this request, in Authorization or in Countersign-Proof in addition to the access token.",
    "responses": {
     "200": {
      "description": "The status",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/EventStreamStatus"
        },
        "example": {
         "stream_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "status": "enabled"
        }
       }
      }
     },
     "202": {
      "description": "The status takes effect after the push address is approved",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/EventStreamStatus"
        },
        "example": {
         "stream_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
         "status": "paused",
         "reason": "The push address awaits the approval of an operator."
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/OAuthMalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/OAuthProviderTokenRequired"
     },
     "403": {
      "$ref": "#/components/responses/OAuthInsufficientScope"
     },
     "404": {
      "description": "not_found, also for another provider's stream",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/OAuthPayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/OAuthUnsupportedMediaType"
     },
     "429": {
      "description": "rate_limited",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "503": {
      "$ref": "#/components/responses/OAuthUnavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "$ref": "#/components/schemas/EventStreamStatus"
       },
       "example": {
        "stream_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
        "status": "enabled"
       }
      }
     }
    },
    "security": [
     {
      "providerToken": []
     }
    ],
    "parameters": [
     {
      "name": "Countersign-Proof",
      "in": "header",
      "required": false,
      "description": "A fresh provider token for this request, in addition to an access token in Authorization.",
      "schema": {
       "type": "string"
      }
     }
    ]
   }
  },
  "/ssf/verification": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "post": {
    "operationId": "verifyStream",
    "tags": [
     "Providers"
    ],
    "summary": "Request a verification event",
    "description": "The event with the state arrives through the stream, in any order.",
    "responses": {
     "204": {
      "description": "The event waits in the stream"
     },
     "400": {
      "$ref": "#/components/responses/OAuthMalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/OAuthProviderTokenRequired"
     },
     "403": {
      "$ref": "#/components/responses/OAuthInsufficientScope"
     },
     "404": {
      "description": "not_found, also for another provider's stream",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "409": {
      "description": "conflict",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/OAuthPayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/OAuthUnsupportedMediaType"
     },
     "429": {
      "description": "rate_limited",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "503": {
      "$ref": "#/components/responses/OAuthUnavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "stream_id": {
          "type": "string"
         },
         "state": {
          "type": "string"
         }
        },
        "required": [
         "stream_id"
        ],
        "additionalProperties": true
       },
       "example": {
        "stream_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
        "state": "bj2Yp0"
       }
      }
     }
    },
    "security": [
     {
      "providerToken": []
     }
    ]
   }
  },
  "/ssf/subjects/add": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "post": {
    "operationId": "addStreamSubject",
    "tags": [
     "Providers"
    ],
    "summary": "Take the events of a user into a stream again",
    "description": "A stream carries the events of all users from the beginning.",
    "responses": {
     "200": {
      "description": "The user's events are in the stream from now on"
     },
     "400": {
      "$ref": "#/components/responses/OAuthMalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/OAuthProviderTokenRequired"
     },
     "403": {
      "$ref": "#/components/responses/OAuthInsufficientScope"
     },
     "404": {
      "description": "not_found: the provider has no such stream or user",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/OAuthPayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/OAuthUnsupportedMediaType"
     },
     "429": {
      "description": "rate_limited",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "503": {
      "$ref": "#/components/responses/OAuthUnavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "stream_id": {
          "type": "string"
         },
         "subject": {
          "type": "object",
          "description": "RFC 9493: iss_sub with the issuer and the user_id, or with the provider id and the provider's own id of the user, or email",
          "properties": {
           "format": {
            "type": "string"
           }
          },
          "required": [
           "format"
          ],
          "additionalProperties": true
         },
         "verified": {
          "type": "boolean"
         }
        },
        "required": [
         "stream_id",
         "subject"
        ],
        "additionalProperties": true
       },
       "example": {
        "stream_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
        "subject": {
         "format": "iss_sub",
         "iss": "https://auth.example.com",
         "sub": "0a4f9fb4-6b11-4e9f-a0ef-0cb70a0c6b29"
        }
       }
      }
     }
    },
    "security": [
     {
      "providerToken": []
     }
    ]
   }
  },
  "/ssf/subjects/remove": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "post": {
    "operationId": "removeStreamSubject",
    "tags": [
     "Providers"
    ],
    "summary": "Leave the events of a user out of a stream",
    "description": "Events that already wait are still delivered. Requires a fresh provider token for this request, in Authorization or in Countersign-Proof in addition to the access token.",
    "responses": {
     "204": {
      "description": "The user's events are left out from now on"
     },
     "400": {
      "$ref": "#/components/responses/OAuthMalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/OAuthProviderTokenRequired"
     },
     "403": {
      "$ref": "#/components/responses/OAuthInsufficientScope"
     },
     "404": {
      "description": "not_found: the provider has no such stream or user",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "409": {
      "description": "conflict: the stream already leaves out the maximum number of users",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/OAuthPayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/OAuthUnsupportedMediaType"
     },
     "429": {
      "description": "rate_limited",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "503": {
      "$ref": "#/components/responses/OAuthUnavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "stream_id": {
          "type": "string"
         },
         "subject": {
          "type": "object",
          "description": "RFC 9493: iss_sub with the issuer and the user_id, or with the provider id and the provider's own id of the user, or email",
          "properties": {
           "format": {
            "type": "string"
           }
          },
          "required": [
           "format"
          ],
          "additionalProperties": true
         }
        },
        "required": [
         "stream_id",
         "subject"
        ],
        "additionalProperties": true
       },
       "example": {
        "stream_id": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715",
        "subject": {
         "format": "iss_sub",
         "iss": "https://auth.example.com",
         "sub": "0a4f9fb4-6b11-4e9f-a0ef-0cb70a0c6b29"
        }
       }
      }
     }
    },
    "security": [
     {
      "providerToken": []
     }
    ],
    "parameters": [
     {
      "name": "Countersign-Proof",
      "in": "header",
      "required": false,
      "description": "A fresh provider token for this request, in addition to an access token in Authorization.",
      "schema": {
       "type": "string"
      }
     }
    ]
   }
  },
  "/ssf/poll/{stream_id}": {
   "servers": [
    {
     "url": "https://127.0.0.1:8440",
     "description": "public listener: server certificate only"
    }
   ],
   "post": {
    "operationId": "pollEvents",
    "tags": [
     "Providers"
    ],
    "summary": "Poll the events of a stream (RFC 8936)",
    "description": "Without an event the response waits, unless returnImmediately is true. Events that are not acknowledged are sent again.",
    "parameters": [
     {
      "name": "stream_id",
      "in": "path",
      "required": true,
      "schema": {
       "type": "string"
      },
      "example": "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715"
     }
    ],
    "responses": {
     "200": {
      "description": "The events",
      "content": {
       "application/json": {
        "schema": {
         "type": "object",
         "properties": {
          "sets": {
           "type": "object",
           "additionalProperties": {
            "type": "string"
           }
          },
          "moreAvailable": {
           "type": "boolean"
          },
          "unknownIds": {
           "type": "array",
           "items": {
            "type": "string"
           },
           "description": "The ids in ack and setErrs that name no event of the stream, or one that is no longer remembered. Absent without any"
          }
         },
         "required": [
          "sets",
          "moreAvailable"
         ]
        },
        "example": {
         "sets": {
          "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715": "eyJhbGciOiJSUzI1NiIsInR5cCI6InNlY2V2ZW50K2p3dCJ9.eyJqdGkiOiJ4In0.c2lnbmF0dXJl"
         },
         "moreAvailable": false
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/OAuthMalformedRequest"
     },
     "401": {
      "$ref": "#/components/responses/OAuthProviderTokenRequired"
     },
     "403": {
      "$ref": "#/components/responses/OAuthInsufficientScope"
     },
     "404": {
      "description": "not_found, also for another provider's stream",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "413": {
      "$ref": "#/components/responses/OAuthPayloadTooLarge"
     },
     "415": {
      "$ref": "#/components/responses/OAuthUnsupportedMediaType"
     },
     "429": {
      "description": "rate_limited",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/OAuthError"
        }
       },
       "application/problem+json": {
        "schema": {
         "$ref": "#/components/schemas/Problem"
        }
       }
      }
     },
     "503": {
      "$ref": "#/components/responses/OAuthUnavailable"
     }
    },
    "requestBody": {
     "required": true,
     "content": {
      "application/json": {
       "schema": {
        "type": "object",
        "properties": {
         "maxEvents": {
          "type": "integer",
          "minimum": 0
         },
         "returnImmediately": {
          "type": "boolean"
         },
         "ack": {
          "type": "array",
          "maxItems": 256,
          "items": {
           "type": "string"
          }
         },
         "setErrs": {
          "type": "object",
          "maxProperties": 256,
          "additionalProperties": {
           "type": "object"
          }
         }
        },
        "additionalProperties": true
       },
       "example": {
        "maxEvents": 10,
        "returnImmediately": true,
        "ack": [
         "7f3d5cf7-a8d5-475e-8115-cde5cfb0e715"
        ]
       }
      }
     }
    },
    "security": [
     {
      "providerToken": []
     }
    ]
   }
  },
  "/livez": {
   "servers": [
    {
     "url": "http://127.0.0.1:8442",
     "description": "ops listener: loopback"
    }
   ],
   "get": {
    "operationId": "live",
    "tags": [
     "Ops"
    ],
    "summary": "Probe whether the process is alive",
    "description": "The store is not checked.",
    "responses": {
     "200": {
      "description": "The process is alive",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/Liveness"
        },
        "example": {
         "live": true
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    }
   }
  },
  "/readyz": {
   "servers": [
    {
     "url": "http://127.0.0.1:8442",
     "description": "ops listener: loopback"
    }
   ],
   "get": {
    "operationId": "ready",
    "tags": [
     "Ops"
    ],
    "summary": "Probe whether the service is ready",
    "description": "503 while the store is unavailable, the node's caches are stale, or the clock is wrong.",
    "responses": {
     "200": {
      "description": "Ready",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/Readiness"
        },
        "example": {
         "ready": true,
         "store": true,
         "view": true,
         "clock": true
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "503": {
      "description": "Not ready",
      "content": {
       "application/json": {
        "schema": {
         "$ref": "#/components/schemas/Readiness"
        }
       }
      }
     }
    }
   }
  },
  "/metrics": {
   "servers": [
    {
     "url": "http://127.0.0.1:8442",
     "description": "ops listener: loopback"
    }
   ],
   "get": {
    "operationId": "metrics",
    "tags": [
     "Ops"
    ],
    "summary": "Get the metrics for Prometheus",
    "description": "Text format 0.0.4.",
    "responses": {
     "200": {
      "description": "The metrics",
      "content": {
       "text/plain": {
        "schema": {
         "type": "string"
        }
       }
      }
     },
     "400": {
      "$ref": "#/components/responses/MalformedRequest"
     },
     "404": {
      "$ref": "#/components/responses/NotFound"
     },
     "413": {
      "$ref": "#/components/responses/PayloadTooLarge"
     },
     "503": {
      "$ref": "#/components/responses/Unavailable"
     }
    }
   }
  }
 },
 "components": {
  "securitySchemes": {
   "mutualTLS": {
    "type": "mutualTLS"
   },
   "layer": {
    "type": "http",
    "scheme": "Layer",
    "description": "Authorization: Layer session-token=\"…\""
   },
   "providerToken": {
    "type": "http",
    "scheme": "bearer",
    "bearerFormat": "JWS by a registered key, cty layer-provider;v=1, or an access token of POST /token"
   },
   "exportToken": {
    "type": "http",
    "scheme": "Layer",
    "description": "Authorization: Layer export-token=\"…\", which a banned user gets with user_banned. Valid for ten minutes with this certificate"
   }
  },
  "responses": {
   "MalformedRequest": {
    "description": "Not readable: malformed_request",
    "content": {
     "application/problem+json": {
      "schema": {
       "$ref": "#/components/schemas/Problem"
      }
     }
    }
   },
   "OAuthMalformedRequest": {
    "description": "Not readable: malformed_request. error is invalid_request",
    "content": {
     "application/json": {
      "schema": {
       "$ref": "#/components/schemas/OAuthError"
      }
     },
     "application/problem+json": {
      "schema": {
       "$ref": "#/components/schemas/Problem"
      }
     }
    }
   },
   "OAuthProviderTokenRequired": {
    "description": "provider_token_required or provider_token_invalid. error is invalid_token",
    "content": {
     "application/json": {
      "schema": {
       "$ref": "#/components/schemas/OAuthError"
      }
     },
     "application/problem+json": {
      "schema": {
       "$ref": "#/components/schemas/Problem"
      }
     }
    }
   },
   "ProviderTokenRequired": {
    "description": "provider_token_required or provider_token_invalid",
    "content": {
     "application/problem+json": {
      "schema": {
       "$ref": "#/components/schemas/Problem"
      }
     }
    }
   },
   "SessionRequired": {
    "description": "A session code: session_required, session_expired, session_challenged, session_destroyed or session_not_attached",
    "content": {
     "application/problem+json": {
      "schema": {
       "$ref": "#/components/schemas/Problem"
      }
     }
    }
   },
   "CallerRefused": {
    "description": "certificate_revoked, binding_mismatch or user_banned",
    "content": {
     "application/problem+json": {
      "schema": {
       "$ref": "#/components/schemas/Problem"
      }
     }
    }
   },
   "LevelRequired": {
    "description": "not_verified with required_level (reason caller or partner), certificate_revoked, binding_mismatch or user_banned",
    "content": {
     "application/problem+json": {
      "schema": {
       "$ref": "#/components/schemas/Problem"
      }
     }
    }
   },
   "OAuthInsufficientScope": {
    "description": "insufficient_scope: the access token lacks the scope",
    "content": {
     "application/json": {
      "schema": {
       "$ref": "#/components/schemas/OAuthError"
      }
     },
     "application/problem+json": {
      "schema": {
       "$ref": "#/components/schemas/Problem"
      }
     }
    }
   },
   "NotFound": {
    "description": "not_found",
    "content": {
     "application/problem+json": {
      "schema": {
       "$ref": "#/components/schemas/Problem"
      }
     }
    }
   },
   "Conflict": {
    "description": "conflict: state names the state that forbids the call",
    "content": {
     "application/problem+json": {
      "schema": {
       "$ref": "#/components/schemas/Problem"
      }
     }
    }
   },
   "OAuthPayloadTooLarge": {
    "description": "payload_too_large",
    "content": {
     "application/json": {
      "schema": {
       "$ref": "#/components/schemas/OAuthError"
      }
     },
     "application/problem+json": {
      "schema": {
       "$ref": "#/components/schemas/Problem"
      }
     }
    }
   },
   "PayloadTooLarge": {
    "description": "payload_too_large",
    "content": {
     "application/problem+json": {
      "schema": {
       "$ref": "#/components/schemas/Problem"
      }
     }
    }
   },
   "OAuthUnsupportedMediaType": {
    "description": "unsupported_media_type",
    "content": {
     "application/json": {
      "schema": {
       "$ref": "#/components/schemas/OAuthError"
      }
     },
     "application/problem+json": {
      "schema": {
       "$ref": "#/components/schemas/Problem"
      }
     }
    }
   },
   "UnsupportedMediaType": {
    "description": "unsupported_media_type",
    "content": {
     "application/problem+json": {
      "schema": {
       "$ref": "#/components/schemas/Problem"
      }
     }
    }
   },
   "RateLimited": {
    "description": "rate_limited. Repeat the call after Retry-After",
    "content": {
     "application/problem+json": {
      "schema": {
       "$ref": "#/components/schemas/Problem"
      }
     }
    }
   },
   "OAuthUnavailable": {
    "description": "unavailable. Nothing was changed",
    "content": {
     "application/json": {
      "schema": {
       "$ref": "#/components/schemas/OAuthError"
      }
     },
     "application/problem+json": {
      "schema": {
       "$ref": "#/components/schemas/Problem"
      }
     }
    }
   },
   "Unavailable": {
    "description": "unavailable. Nothing was changed",
    "content": {
     "application/problem+json": {
      "schema": {
       "$ref": "#/components/schemas/Problem"
      }
     }
    }
   }
  },
  "schemas": {
   "ServiceDescription": {
    "type": "object",
    "properties": {
     "realm": {
      "type": "string"
     },
     "service": {
      "const": "countersign"
     },
     "certificates_endpoint": {
      "type": "string",
      "format": "uri"
     },
     "authority": {
      "type": "string",
      "format": "uri"
     },
     "revocation_list": {
      "type": "string",
      "format": "uri"
     },
     "nonce_endpoint": {
      "type": "string",
      "format": "uri"
     },
     "session_endpoint": {
      "type": "string",
      "format": "uri"
     },
     "introspection_endpoint": {
      "type": "string",
      "format": "uri"
     },
     "revocation_endpoint": {
      "type": "string",
      "format": "uri"
     },
     "jwks_uri": {
      "type": "string",
      "format": "uri"
     },
     "openapi": {
      "type": "string",
      "format": "uri"
     },
     "identity_token_algorithms": {
      "type": "array",
      "items": {
       "type": "string",
       "enum": [
        "RS256",
        "PS256",
        "ES256",
        "ES384",
        "EdDSA"
       ]
      }
     },
     "identity_token_maximum_lifetime": {
      "type": "integer"
     },
     "clock_skew": {
      "type": "integer"
     },
     "sessions_per_user_and_device": {
      "type": "integer"
     },
     "session_attachment": {
      "type": "string",
      "enum": [
       "implicit",
       "explicit"
      ]
     },
     "certification_gate": {
      "type": "string",
      "enum": [
       "open",
       "provider",
       "captcha",
       "attested"
      ]
     },
     "limits": {
      "type": "string",
      "enum": [
       "on",
       "off"
      ]
     },
     "server_key_pins_sha256": {
      "type": "array",
      "items": {
       "type": "string"
      }
     }
    },
    "required": [
     "realm",
     "service",
     "certificates_endpoint",
     "authority",
     "revocation_list",
     "nonce_endpoint",
     "session_endpoint",
     "introspection_endpoint",
     "revocation_endpoint",
     "jwks_uri",
     "openapi",
     "identity_token_algorithms",
     "identity_token_maximum_lifetime",
     "clock_skew",
     "sessions_per_user_and_device",
     "session_attachment",
     "certification_gate",
     "limits",
     "server_key_pins_sha256"
    ]
   },
   "WebKeySet": {
    "type": "object",
    "properties": {
     "keys": {
      "type": "array",
      "items": {
       "oneOf": [
        {
         "type": "object",
         "properties": {
          "kty": {
           "const": "EC"
          },
          "crv": {
           "const": "P-256"
          },
          "x": {
           "type": "string"
          },
          "y": {
           "type": "string"
          },
          "use": {
           "const": "sig"
          },
          "alg": {
           "const": "ES256"
          },
          "kid": {
           "type": "string"
          },
          "x5c": {
           "type": "array",
           "items": {
            "type": "string"
           },
           "minItems": 1,
           "maxItems": 1,
           "description": "The key in a certificate, DER in base64 (RFC 7517, section 4.7). Its signature is not meant to be trusted."
          }
         },
         "required": [
          "kty",
          "crv",
          "x",
          "y",
          "use",
          "alg",
          "kid",
          "x5c"
         ]
        },
        {
         "type": "object",
         "properties": {
          "kty": {
           "const": "RSA"
          },
          "n": {
           "type": "string"
          },
          "e": {
           "type": "string"
          },
          "use": {
           "const": "sig"
          },
          "alg": {
           "const": "RS256"
          },
          "kid": {
           "type": "string"
          },
          "x5c": {
           "type": "array",
           "items": {
            "type": "string"
           },
           "minItems": 1,
           "maxItems": 1,
           "description": "The key in a certificate, DER in base64 (RFC 7517, section 4.7). Its signature is not meant to be trusted."
          }
         },
         "required": [
          "kty",
          "n",
          "e",
          "use",
          "alg",
          "kid",
          "x5c"
         ]
        }
       ]
      }
     }
    },
    "required": [
     "keys"
    ]
   },
   "CurrentSession": {
    "type": "object",
    "properties": {
     "session_id": {
      "type": "string",
      "format": "uuid"
     },
     "state": {
      "type": "string",
      "enum": [
       "authenticated"
      ]
     },
     "user_id": {
      "type": "string",
      "format": "uuid"
     },
     "app_id": {
      "type": "string",
      "format": "uuid"
     },
     "device_id": {
      "type": "string",
      "format": "uuid"
     },
     "expires_at": {
      "type": "string",
      "format": "date-time"
     },
     "idle_ttl": {
      "type": "integer"
     },
     "connection_id": {
      "type": "string",
      "format": "uuid"
     },
     "device_attestation": {
      "type": "string",
      "enum": [
       "none",
       "app_attest",
       "android_tee",
       "android_strongbox"
      ],
      "description": "What the maker of the device attested about its key"
     }
    },
    "required": [
     "session_id",
     "state",
     "user_id",
     "app_id",
     "device_id",
     "expires_at",
     "idle_ttl",
     "connection_id",
     "device_attestation"
    ]
   },
   "ListedSession": {
    "type": "object",
    "properties": {
     "id": {
      "type": "string",
      "format": "uuid"
     },
     "device_id": {
      "type": "string",
      "format": "uuid"
     },
     "app_id": {
      "type": "string",
      "format": "uuid"
     },
     "state": {
      "type": "string",
      "enum": [
       "authenticated",
       "challenged"
      ]
     },
     "created_at": {
      "type": "string",
      "format": "date-time"
     },
     "last_used_at": {
      "type": "string",
      "format": "date-time"
     },
     "expires_at": {
      "type": "string",
      "format": "date-time"
     },
     "current": {
      "type": "boolean"
     }
    },
    "required": [
     "id",
     "device_id",
     "app_id",
     "state",
     "created_at",
     "last_used_at",
     "expires_at",
     "current"
    ]
   },
   "Provider": {
    "type": "object",
    "properties": {
     "provider_id": {
      "type": "string",
      "format": "uuid"
     },
     "slug": {
      "type": "string"
     },
     "name": {
      "type": "string"
     },
     "apps": {
      "type": "array",
      "items": {
       "type": "object",
       "properties": {
        "app_id": {
         "type": "string",
         "format": "uuid"
        },
        "name": {
         "type": "string"
        }
       },
       "required": [
        "app_id",
        "name"
       ]
      }
     },
     "keys": {
      "type": "array",
      "items": {
       "type": "object",
       "properties": {
        "key_id": {
         "type": "string",
         "format": "uuid"
        },
        "alg": {
         "type": "string",
         "enum": [
          "RS256",
          "PS256",
          "ES256",
          "ES384",
          "EdDSA"
         ]
        },
        "added_by": {
         "type": "string",
         "enum": [
          "admin",
          "provider",
          "issuer"
         ]
        },
        "state": {
         "type": "string",
         "enum": [
          "active",
          "retired",
          "revoked"
         ]
        },
        "created_at": {
         "type": "string",
         "format": "date-time"
        }
       },
       "required": [
        "key_id",
        "alg",
        "added_by",
        "state",
        "created_at"
       ]
      }
     }
    },
    "required": [
     "provider_id",
     "slug",
     "name",
     "apps",
     "keys"
    ]
   },
   "ActiveSession": {
    "type": "object",
    "properties": {
     "active": {
      "const": true
     },
     "sub": {
      "type": "string"
     },
     "user_id": {
      "type": "string",
      "format": "uuid"
     },
     "sid": {
      "type": "string",
      "format": "uuid"
     },
     "exp": {
      "type": "integer"
     },
     "iat": {
      "type": "integer"
     },
     "client_id": {
      "type": "string",
      "format": "uuid"
     },
     "assurance": {
      "type": "string",
      "enum": [
       "none",
       "phone",
       "barcode",
       "issuer_signed",
       "issuer_checked",
       "credential"
      ]
     },
     "device_attestation": {
      "type": "string",
      "enum": [
       "none",
       "app_attest",
       "android_tee",
       "android_strongbox"
      ],
      "description": "What the maker of the device attested about its key"
     },
     "cnf": {
      "type": "object",
      "properties": {
       "x5t#S256": {
        "type": "string"
       }
      },
      "required": [
       "x5t#S256"
      ]
     },
     "verified_claims": {
      "$ref": "#/components/schemas/VerifiedClaims"
     }
    },
    "required": [
     "active",
     "sub",
     "user_id",
     "sid",
     "exp",
     "iat",
     "client_id",
     "assurance",
     "device_attestation",
     "cnf"
    ]
   },
   "InactiveToken": {
    "type": "object",
    "properties": {
     "active": {
      "const": false
     }
    },
    "required": [
     "active"
    ]
   },
   "ProviderUser": {
    "type": "object",
    "properties": {
     "user_id": {
      "type": "string",
      "format": "uuid"
     },
     "external_id": {
      "type": "string",
      "description": "The provider's own user id"
     },
     "assurance": {
      "type": "string",
      "enum": [
       "none",
       "phone",
       "barcode",
       "issuer_signed",
       "issuer_checked",
       "credential"
      ]
     },
     "age_over_18": {
      "type": [
       "boolean",
       "null"
      ]
     },
     "age_over_21": {
      "type": [
       "boolean",
       "null"
      ]
     },
     "initials": {
      "type": [
       "string",
       "null"
      ]
     },
     "banned": {
      "type": "boolean"
     }
    },
    "required": [
     "user_id",
     "external_id",
     "assurance",
     "age_over_18",
     "age_over_21",
     "initials",
     "banned"
    ]
   },
   "ProviderUserHistory": {
    "type": "object",
    "properties": {
     "events": {
      "type": "array",
      "description": "Sorted by time, newest first",
      "items": {
       "oneOf": [
        {
         "$ref": "#/components/schemas/RecordedSignIn"
        },
        {
         "$ref": "#/components/schemas/RecordedSession"
        }
       ]
      }
     },
     "devices": {
      "type": "array",
      "description": "The devices of the user's sign-ins, the last used one first, at most 50. Empty on later pages",
      "items": {
       "type": "object",
       "properties": {
        "device_id": {
         "type": "string",
         "format": "uuid"
        },
        "first_at": {
         "type": "string",
         "format": "date-time"
        },
        "last_at": {
         "type": "string",
         "format": "date-time"
        }
       },
       "required": [
        "device_id",
        "first_at",
        "last_at"
       ]
      }
     },
     "cursor": {
      "type": [
       "string",
       "null"
      ],
      "description": "For the next page; null after the last one"
     }
    },
    "required": [
     "events",
     "devices",
     "cursor"
    ]
   },
   "RecordedSignIn": {
    "type": "object",
    "properties": {
     "type": {
      "const": "sign_in"
     },
     "at": {
      "type": "string",
      "format": "date-time"
     },
     "act": {
      "type": "string",
      "enum": [
       "open",
       "renew"
      ]
     },
     "accepted": {
      "type": "boolean"
     },
     "code": {
      "type": [
       "string",
       "null"
      ],
      "description": "The code of the refusal"
     },
     "reason": {
      "type": [
       "string",
       "null"
      ],
      "description": "The reason of the refusal"
     },
     "session_id": {
      "type": [
       "string",
       "null"
      ],
      "format": "uuid"
     },
     "device_id": {
      "type": [
       "string",
       "null"
      ],
      "format": "uuid"
     },
     "app_id": {
      "type": [
       "string",
       "null"
      ],
      "format": "uuid"
     },
     "key_id": {
      "type": [
       "string",
       "null"
      ],
      "format": "uuid",
      "description": "The key that the token named; null if the provider has no such key"
     }
    },
    "required": [
     "type",
     "at",
     "act",
     "accepted",
     "code",
     "reason",
     "session_id",
     "device_id",
     "app_id",
     "key_id"
    ]
   },
   "RecordedSession": {
    "type": "object",
    "properties": {
     "type": {
      "const": "session"
     },
     "at": {
      "type": "string",
      "format": "date-time",
      "description": "When it was opened"
     },
     "state": {
      "type": "string",
      "enum": [
       "authenticated",
       "challenged",
       "expired",
       "destroyed"
      ]
     },
     "renewed_at": {
      "type": "string",
      "format": "date-time"
     },
     "last_used_at": {
      "type": "string",
      "format": "date-time"
     },
     "ended_at": {
      "type": [
       "string",
       "null"
      ],
      "format": "date-time"
     },
     "end_reason": {
      "type": [
       "string",
       "null"
      ],
      "description": "In words"
     },
     "session_id": {
      "type": "string",
      "format": "uuid"
     },
     "device_id": {
      "type": "string",
      "format": "uuid"
     },
     "app_id": {
      "type": "string",
      "format": "uuid"
     },
     "key_id": {
      "type": "string",
      "format": "uuid",
      "description": "The key that opened or last renewed it"
     }
    },
    "required": [
     "type",
     "at",
     "state",
     "renewed_at",
     "last_used_at",
     "ended_at",
     "end_reason",
     "session_id",
     "device_id",
     "app_id",
     "key_id"
    ]
   },
   "Liveness": {
    "type": "object",
    "properties": {
     "live": {
      "const": true
     }
    },
    "required": [
     "live"
    ]
   },
   "Readiness": {
    "type": "object",
    "properties": {
     "ready": {
      "type": "boolean"
     },
     "store": {
      "type": "boolean"
     },
     "view": {
      "type": "boolean"
     },
     "clock": {
      "type": "boolean",
      "description": "Whether the node's clock is close enough to the store's"
     }
    },
    "required": [
     "ready",
     "store",
     "view",
     "clock"
    ]
   },
   "Problem": {
    "type": "object",
    "properties": {
     "type": {
      "type": "string",
      "description": "The page of the code, under the public listener's URL, at the anchor of the reason if there is one."
     },
     "title": {
      "type": "string"
     },
     "status": {
      "type": "integer"
     },
     "code": {
      "type": "string",
      "enum": [
       "malformed_request",
       "payload_too_large",
       "unsupported_media_type",
       "session_required",
       "session_expired",
       "session_challenged",
       "session_destroyed",
       "session_not_attached",
       "provider_token_required",
       "provider_token_invalid",
       "insufficient_scope",
       "binding_mismatch",
       "certificate_revoked",
       "user_banned",
       "not_verified",
       "not_found",
       "conflict",
       "gone",
       "invalid_csr",
       "invalid_provider_key",
       "invalid_identity_token",
       "invalid_presence_proof",
       "invalid_dpop_proof",
       "verification_failed",
       "card_rejected",
       "presentation_rejected",
       "rate_limited",
       "unavailable",
       "internal_error",
       "method_not_allowed",
       "target_too_long",
       "header_fields_too_large",
       "transfer_coding_unknown"
      ]
     },
     "detail": {
      "type": "string",
      "description": "One sentence for the developer."
     },
     "request_id": {
      "type": "string",
      "description": "The request's id in the service's log, also in X-Request-ID."
     },
     "reason": {
      "type": "string",
      "description": "A reason that is more specific than the code. With unavailable: outcome_unknown (check whether the change was made) or store_moved (call another node)."
     },
     "state": {
      "type": "string",
      "description": "The state that forbids the call (conflict, gone)."
     },
     "required_level": {
      "type": "string",
      "description": "The level that the call needs (not_verified)."
     },
     "nonce": {
      "type": "string",
      "description": "A fresh nonce, which saves a call to POST /nonces."
     },
     "until": {
      "type": "string",
      "format": "date-time",
      "description": "When the ban expires"
     },
     "export_token": {
      "type": "string",
      "description": "Lets a banned user call GET /me/export and DELETE /me from this device for ten minutes"
     },
     "nonce_expires_at": {
      "type": "string",
      "format": "date-time"
     },
     "checks": {
      "type": "array",
      "items": {
       "$ref": "#/components/schemas/CardCheck"
      },
      "description": "card_rejected: every check"
     }
    },
    "required": [
     "type",
     "title",
     "status",
     "code",
     "detail",
     "request_id"
    ],
    "description": "A refusal (RFC 9457). Compare code, and reason or state if there is one.",
    "examples": [
     {
      "type": "https://auth.example/problems/invalid_identity_token#nonce_used",
      "title": "Unprocessable Content",
      "status": 422,
      "code": "invalid_identity_token",
      "detail": "The nonce in the token was used before. Get a new one and sign again.",
      "request_id": "c1",
      "reason": "nonce_used",
      "nonce": "AAABmT3cV0DQ1b7k9rTj0Q8mXz4Yc2uN6w",
      "nonce_expires_at": "2026-11-22T12:10:00Z"
     }
    ]
   },
   "CertifiedDevice": {
    "type": "object",
    "properties": {
     "certificate": {
      "type": "string"
     },
     "chain": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "device_id": {
      "type": "string",
      "format": "uuid"
     },
     "serial": {
      "type": "string"
     },
     "not_before": {
      "type": "string",
      "format": "date-time"
     },
     "not_after": {
      "type": "string",
      "format": "date-time"
     },
     "renew_after": {
      "type": "string",
      "format": "date-time"
     }
    },
    "required": [
     "certificate",
     "chain",
     "device_id",
     "serial",
     "not_before",
     "not_after",
     "renew_after"
    ]
   },
   "OpenedSession": {
    "type": "object",
    "properties": {
     "session_id": {
      "type": "string",
      "format": "uuid"
     },
     "user_id": {
      "type": "string",
      "format": "uuid"
     },
     "address": {
      "type": "string"
     },
     "session_token": {
      "type": "string",
      "description": "Only at creation and renewal. Opaque and of any length."
     },
     "ttl": {
      "type": "integer"
     },
     "idle_ttl": {
      "type": "integer"
     },
     "expires_at": {
      "type": "string",
      "format": "date-time"
     },
     "assurance": {
      "type": "string",
      "enum": [
       "none",
       "phone",
       "barcode",
       "issuer_signed",
       "issuer_checked",
       "credential"
      ]
     },
     "cnf": {
      "type": "object",
      "properties": {
       "x5t#S256": {
        "type": "string"
       }
      },
      "required": [
       "x5t#S256"
      ]
     }
    },
    "required": [
     "session_id",
     "user_id",
     "address",
     "ttl",
     "idle_ttl",
     "expires_at",
     "assurance",
     "cnf"
    ]
   },
   "StartedPhoneVerification": {
    "type": "object",
    "properties": {
     "id": {
      "type": "string",
      "format": "uuid"
     },
     "expires_at": {
      "type": "string",
      "format": "date-time"
     },
     "resend_after": {
      "type": [
       "string",
       "null"
      ],
      "format": "date-time",
      "description": "null if no resend is left"
     },
     "digits": {
      "type": "integer"
     }
    },
    "required": [
     "id",
     "expires_at",
     "resend_after",
     "digits"
    ]
   },
   "CardCheck": {
    "type": "object",
    "properties": {
     "name": {
      "type": "string",
      "enum": [
       "unexpired",
       "date_order",
       "minimum_age",
       "issuer",
       "mandatory_elements",
       "document_number",
       "check_digits",
       "birthday",
       "number_format",
       "number_rule",
       "postal_code",
       "address_jurisdiction",
       "name",
       "other_name",
       "po_box",
       "conformance",
       "contradiction",
       "specimen",
       "issuer_signature",
       "issuer_confirmation",
       "credential_status",
       "uniqueness",
       "same_person"
      ]
     },
     "result": {
      "type": "string",
      "enum": [
       "passed",
       "failed",
       "not_applicable"
      ]
     },
     "detail": {
      "type": "string"
     }
    },
    "required": [
     "name",
     "result",
     "detail"
    ]
   },
   "IdentityCard": {
    "type": "object",
    "properties": {
     "id": {
      "type": "string",
      "format": "uuid"
     },
     "status": {
      "type": "string",
      "enum": [
       "verified",
       "in_review",
       "rejected"
      ]
     },
     "assurance": {
      "type": "string",
      "enum": [
       "none",
       "phone",
       "barcode",
       "issuer_signed",
       "issuer_checked",
       "credential"
      ]
     },
     "checks": {
      "type": "array",
      "items": {
       "$ref": "#/components/schemas/CardCheck"
      }
     },
     "issuer_signature": {
      "type": "string",
      "enum": [
       "none",
       "present",
       "unreadable",
       "verified",
       "invalid"
      ],
      "description": "The signature that some issuers write into a barcode: present could not be verified here, unreadable is damaged, verified is the issuer's, invalid was not made for this card"
     },
     "card": {
      "type": "object",
      "properties": {
       "full_name": {
        "type": "string"
       },
       "date_of_birth": {
        "type": "string",
        "format": "date"
       },
       "age": {
        "type": "integer"
       },
       "address": {
        "oneOf": [
         {
          "type": "object",
          "properties": {
           "street": {
            "type": [
             "string",
             "null"
            ]
           },
           "city": {
            "type": [
             "string",
             "null"
            ]
           },
           "jurisdiction": {
            "type": [
             "string",
             "null"
            ]
           },
           "postal_code": {
            "type": [
             "string",
             "null"
            ]
           },
           "country": {
            "type": [
             "string",
             "null"
            ]
           }
          },
          "required": [
           "street",
           "city",
           "jurisdiction",
           "postal_code",
           "country"
          ]
         },
         {
          "type": "null"
         }
        ]
       },
       "document_number": {
        "type": "string",
        "description": "the last four characters"
       },
       "jurisdiction": {
        "type": [
         "string",
         "null"
        ]
       },
       "expires_on": {
        "type": "string",
        "format": "date"
       }
      },
      "required": [
       "full_name",
       "date_of_birth",
       "age",
       "address",
       "document_number",
       "jurisdiction",
       "expires_on"
      ]
     }
    },
    "required": [
     "id",
     "status",
     "assurance",
     "checks",
     "issuer_signature",
     "card"
    ]
   },
   "OwnRow": {
    "type": "object",
    "properties": {
     "user_id": {
      "type": "string",
      "format": "uuid"
     },
     "address": {
      "type": "string"
     },
     "phone_number": {
      "type": [
       "string",
       "null"
      ]
     },
     "postal_address": {
      "type": [
       "string",
       "null"
      ]
     },
     "full_name": {
      "type": [
       "string",
       "null"
      ]
     },
     "age": {
      "type": [
       "integer",
       "null"
      ]
     },
     "document_number": {
      "type": [
       "string",
       "null"
      ]
     },
     "jurisdiction": {
      "type": [
       "string",
       "null"
      ]
     },
     "push_endpoint": {
      "type": [
       "string",
       "null"
      ],
      "description": "The SNS endpoint of this device"
     },
     "call_endpoint": {
      "type": [
       "string",
       "null"
      ],
      "description": "The SNS endpoint of this device for incoming calls"
     },
     "assurance": {
      "type": "string",
      "enum": [
       "none",
       "phone",
       "barcode",
       "issuer_signed",
       "issuer_checked",
       "credential"
      ]
     },
     "phone_verified_at": {
      "type": [
       "string",
       "null"
      ],
      "format": "date-time"
     },
     "identity_verified_at": {
      "type": [
       "string",
       "null"
      ],
      "format": "date-time"
     },
     "suspended": {
      "type": [
       "string",
       "null"
      ],
      "enum": [
       "phone_reassigned",
       null
      ]
     },
     "presence": {
      "type": "string",
      "enum": [
       "visible",
       "hidden"
      ],
      "description": "Whether users who may write to the user see when the user is online"
     },
     "message_storage": {
      "type": "string",
      "enum": [
       "keep",
       "until_delivered"
      ],
      "description": "How long messages of streams of which the user is a member are stored. Forums are not affected"
     }
    },
    "required": [
     "user_id",
     "address",
     "phone_number",
     "postal_address",
     "full_name",
     "age",
     "document_number",
     "jurisdiction",
     "push_endpoint",
     "call_endpoint",
     "assurance",
     "phone_verified_at",
     "identity_verified_at",
     "suspended",
     "presence",
     "message_storage"
    ]
   },
   "PersonalExport": {
    "type": "object",
    "properties": {
     "user_id": {
      "type": "string",
      "format": "uuid"
     },
     "address": {
      "type": "string"
     },
     "provider_id": {
      "type": "string",
      "format": "uuid"
     },
     "created_at": {
      "type": "string",
      "format": "date-time"
     },
     "assurance": {
      "type": "string",
      "enum": [
       "none",
       "phone",
       "barcode",
       "issuer_signed",
       "issuer_checked",
       "credential"
      ]
     },
     "display_name": {
      "type": [
       "string",
       "null"
      ]
     },
     "avatar_url": {
      "type": [
       "string",
       "null"
      ]
     },
     "phone_number": {
      "type": [
       "string",
       "null"
      ]
     },
     "push_endpoints": {
      "type": "array",
      "items": {
       "type": "object",
       "properties": {
        "device_id": {
         "type": "string",
         "format": "uuid"
        },
        "push_endpoint": {
         "type": [
          "string",
          "null"
         ]
        },
        "call_endpoint": {
         "type": [
          "string",
          "null"
         ]
        },
        "registered_at": {
         "type": "string",
         "format": "date-time"
        }
       },
       "required": [
        "device_id",
        "push_endpoint",
        "call_endpoint",
        "registered_at"
       ]
      }
     },
     "full_name": {
      "type": [
       "string",
       "null"
      ]
     },
     "date_of_birth": {
      "type": [
       "string",
       "null"
      ],
      "format": "date"
     },
     "postal_address": {
      "type": [
       "string",
       "null"
      ]
     },
     "document_number": {
      "type": [
       "string",
       "null"
      ]
     },
     "jurisdiction": {
      "type": [
       "string",
       "null"
      ]
     },
     "phone_verified_at": {
      "type": [
       "string",
       "null"
      ],
      "format": "date-time"
     },
     "identity_verified_at": {
      "type": [
       "string",
       "null"
      ],
      "format": "date-time"
     },
     "suspended": {
      "type": [
       "string",
       "null"
      ],
      "enum": [
       "phone_reassigned",
       null
      ]
     },
     "age_proof": {
      "type": [
       "object",
       "null"
      ],
      "description": "The ages that the user's wallet proved",
      "properties": {
       "age_over_18": {
        "type": "boolean"
       },
       "age_over_21": {
        "type": "boolean"
       },
       "proven_at": {
        "type": "string",
        "format": "date-time"
       }
      },
      "required": [
       "age_over_18",
       "age_over_21",
       "proven_at"
      ]
     },
     "cards": {
      "type": "array",
      "items": {
       "type": "object",
       "properties": {
        "id": {
         "type": "string",
         "format": "uuid"
        },
        "status": {
         "type": "string",
         "enum": [
          "verified",
          "in_review",
          "rejected"
         ]
        },
        "submitted_at": {
         "type": "string",
         "format": "date-time"
        },
        "checks": {
         "type": "array",
         "items": {
          "type": "object",
          "properties": {
           "name": {
            "type": "string",
            "enum": [
             "unexpired",
             "date_order",
             "minimum_age",
             "issuer",
             "mandatory_elements",
             "document_number",
             "check_digits",
             "birthday",
             "number_format",
             "number_rule",
             "postal_code",
             "address_jurisdiction",
             "name",
             "other_name",
             "po_box",
             "conformance",
             "contradiction",
             "specimen",
             "issuer_signature",
             "issuer_confirmation",
             "credential_status",
             "uniqueness",
             "same_person"
            ]
           },
           "result": {
            "type": "string",
            "enum": [
             "passed",
             "failed",
             "not_applicable"
            ]
           }
          },
          "required": [
           "name",
           "result"
          ]
         }
        },
        "full_name": {
         "type": [
          "string",
          "null"
         ]
        },
        "date_of_birth": {
         "type": [
          "string",
          "null"
         ],
         "format": "date"
        },
        "address": {
         "type": [
          "string",
          "null"
         ]
        },
        "document_number": {
         "type": [
          "string",
          "null"
         ]
        },
        "expires_on": {
         "type": [
          "string",
          "null"
         ],
         "format": "date"
        },
        "issuer_signature": {
         "type": [
          "string",
          "null"
         ],
         "enum": [
          "none",
          "present",
          "unreadable",
          "verified",
          "invalid",
          null
         ]
        },
        "signed_credential": {
         "type": [
          "string",
          "null"
         ],
         "description": "The signed credential of the barcode, base64url"
        }
       },
       "required": [
        "id",
        "status",
        "submitted_at",
        "checks",
        "full_name",
        "date_of_birth",
        "address",
        "document_number",
        "expires_on",
        "issuer_signature",
        "signed_credential"
       ]
      }
     },
     "sessions": {
      "type": "array",
      "items": {
       "type": "object",
       "properties": {
        "id": {
         "type": "string",
         "format": "uuid"
        },
        "device_id": {
         "type": "string",
         "format": "uuid"
        },
        "app_id": {
         "type": "string",
         "format": "uuid"
        },
        "created_at": {
         "type": "string",
         "format": "date-time"
        },
        "last_used_at": {
         "type": "string",
         "format": "date-time"
        },
        "device_attestation": {
         "type": "string",
         "enum": [
          "none",
          "app_attest",
          "android_tee",
          "android_strongbox"
         ],
         "description": "What the maker of the device attested about its key"
        }
       },
       "required": [
        "id",
        "device_id",
        "app_id",
        "created_at",
        "last_used_at",
        "device_attestation"
       ]
      }
     },
     "sign_ins": {
      "type": "array",
      "description": "The newest 1,000 attempts to sign in",
      "items": {
       "type": "object",
       "properties": {
        "id": {
         "type": "string",
         "format": "uuid"
        },
        "at": {
         "type": "string",
         "format": "date-time"
        },
        "act": {
         "type": "string",
         "enum": [
          "open",
          "renew"
         ]
        },
        "code": {
         "type": [
          "string",
          "null"
         ],
         "description": "The code of a refusal; null if the attempt was accepted"
        },
        "reason": {
         "type": [
          "string",
          "null"
         ]
        },
        "device_id": {
         "type": [
          "string",
          "null"
         ],
         "format": "uuid"
        },
        "app_id": {
         "type": [
          "string",
          "null"
         ],
         "format": "uuid"
        },
        "session_id": {
         "type": [
          "string",
          "null"
         ],
         "format": "uuid"
        }
       },
       "required": [
        "id",
        "at",
        "act",
        "code",
        "reason",
        "device_id",
        "app_id",
        "session_id"
       ]
      }
     },
     "authorizations": {
      "type": "array",
      "items": {
       "type": "object",
       "properties": {
        "id": {
         "type": "string",
         "format": "uuid"
        },
        "box": {
         "type": "string",
         "enum": [
          "in",
          "out"
         ]
        },
        "state": {
         "type": "string",
         "enum": [
          "REQUEST",
          "APPROVAL",
          "REJECTED",
          "CANCELLED",
          "EXPIRED",
          "BANNED"
         ]
        },
        "to": {
         "type": [
          "string",
          "null"
         ]
        },
        "event_id": {
         "type": [
          "string",
          "null"
         ]
        },
        "grant": {
         "type": [
          "string",
          "null"
         ]
        },
        "created_at": {
         "type": "string",
         "format": "date-time"
        }
       },
       "required": [
        "id",
        "box",
        "state",
        "to",
        "event_id",
        "grant",
        "created_at"
       ]
      }
     },
     "blocked": {
      "type": "array",
      "items": {
       "type": "string",
       "format": "uuid"
      },
      "description": "Users that the user blocks by their ids"
     },
     "blocked_requesters": {
      "type": "array",
      "items": {
       "type": "string",
       "format": "uuid"
      },
      "description": "Authorizations whose requesters the user blocks without their ids"
     },
     "findable_addresses": {
      "type": "array",
      "items": {
       "type": "string",
       "enum": [
        "phone",
        "name"
       ]
      },
      "description": "The user's addresses by which others can find the user"
     },
     "presence": {
      "type": "string",
      "enum": [
       "visible",
       "hidden"
      ],
      "description": "Whether users who may write to the user see when the user is online"
     },
     "last_seen": {
      "type": [
       "string",
       "null"
      ],
      "format": "date-time"
     },
     "forbidden_apps": {
      "type": "array",
      "description": "The apps that the user forbids",
      "items": {
       "type": "string",
       "format": "uuid"
      }
     },
     "message_storage": {
      "type": "string",
      "enum": [
       "keep",
       "until_delivered"
      ]
     },
     "streams": {
      "type": "array",
      "items": {
       "type": "object",
       "properties": {
        "stream_id": {
         "type": "string",
         "format": "uuid"
        },
        "left": {
         "type": "boolean"
        },
        "delivered_through": {
         "type": "integer",
         "minimum": 0
        },
        "read_through": {
         "type": "integer",
         "minimum": 0
        },
        "private_metadata": {
         "type": "object"
        }
       },
       "required": [
        "stream_id",
        "left",
        "delivered_through",
        "read_through",
        "private_metadata"
       ]
      }
     },
     "messages": {
      "type": "array",
      "items": {
       "type": "object",
       "properties": {
        "stream_id": {
         "type": "string",
         "format": "uuid"
        },
        "sequence": {
         "type": "integer",
         "minimum": 0
        },
        "id": {
         "type": "string",
         "format": "uuid"
        },
        "sent_at": {
         "type": "string",
         "format": "date-time"
        },
        "parts": {
         "type": [
          "array",
          "null"
         ],
         "items": {
          "type": "object",
          "properties": {
           "type": {
            "type": "string",
            "description": "A media type without parameters"
           },
           "body": {
            "type": "string"
           },
           "body_base64": {
            "type": "string",
            "description": "base64url without padding"
           }
          },
          "required": [
           "type"
          ]
         }
        }
       },
       "required": [
        "stream_id",
        "sequence",
        "id",
        "sent_at",
        "parts"
       ]
      }
     },
     "message_metadata": {
      "type": "array",
      "description": "The user's private metadata of messages",
      "items": {
       "type": "object",
       "properties": {
        "stream_id": {
         "type": "string",
         "format": "uuid"
        },
        "sequence": {
         "type": "integer",
         "minimum": 1
        },
        "id": {
         "type": "string",
         "format": "uuid"
        },
        "private_metadata": {
         "type": "object"
        }
       },
       "required": [
        "stream_id",
        "sequence",
        "id",
        "private_metadata"
       ]
      }
     },
     "notifications": {
      "type": "array",
      "items": {
       "type": "object",
       "properties": {
        "id": {
         "type": "string",
         "format": "uuid"
        },
        "title": {
         "type": [
          "string",
          "null"
         ]
        },
        "body": {
         "type": [
          "string",
          "null"
         ]
        },
        "data": {
         "type": "object",
         "additionalProperties": {
          "type": "string"
         }
        },
        "sent_at": {
         "type": "string",
         "format": "date-time"
        }
       },
       "required": [
        "id",
        "title",
        "body",
        "data",
        "sent_at"
       ]
      },
      "description": "Notifications of the provider that still wait for the user's devices"
     }
    },
    "required": [
     "user_id",
     "address",
     "provider_id",
     "created_at",
     "assurance",
     "display_name",
     "avatar_url",
     "phone_number",
     "push_endpoints",
     "full_name",
     "date_of_birth",
     "postal_address",
     "document_number",
     "jurisdiction",
     "phone_verified_at",
     "identity_verified_at",
     "suspended",
     "age_proof",
     "cards",
     "sessions",
     "sign_ins",
     "authorizations",
     "blocked",
     "blocked_requesters",
     "findable_addresses",
     "presence",
     "last_seen",
     "forbidden_apps",
     "message_storage",
     "streams",
     "messages",
     "message_metadata",
     "notifications"
    ]
   },
   "Authorization": {
    "type": "object",
    "properties": {
     "id": {
      "type": "string",
      "format": "uuid"
     },
     "box": {
      "type": "string",
      "enum": [
       "in",
       "out"
      ],
      "description": "in: the caller is the recipient; out: the caller is the requester"
     },
     "state": {
      "type": "string",
      "enum": [
       "REQUEST",
       "APPROVAL",
       "REJECTED",
       "CANCELLED",
       "EXPIRED",
       "BANNED"
      ]
     },
     "created_at": {
      "type": "string",
      "format": "date-time"
     },
     "expires_at": {
      "type": [
       "string",
       "null"
      ],
      "format": "date-time",
      "description": "While the request is open"
     },
     "changed_at": {
      "type": "string",
      "format": "date-time"
     },
     "to": {
      "type": [
       "string",
       "null"
      ],
      "description": "The recipient in the requester's words, or null in the box in"
     },
     "event_id": {
      "type": [
       "string",
       "null"
      ],
      "description": "In the requester's words, or null in the box in"
     },
     "grant": {
      "type": [
       "string",
       "null"
      ],
      "description": "<requester> -> <recipient> while both may message each other"
     },
     "block": {
      "type": [
       "string",
       "null"
      ],
      "description": "For the recipient the path of the calls that block the requester and end the block, otherwise null"
     },
     "partner": {
      "description": "The other side, of a request in the box in and of an approval, while that user is verified",
      "oneOf": [
       {
        "$ref": "#/components/schemas/AuthorizationPartner"
       },
       {
        "type": "null"
       }
      ]
     }
    },
    "required": [
     "id",
     "box",
     "state",
     "created_at",
     "expires_at",
     "changed_at",
     "to",
     "event_id",
     "grant",
     "block",
     "partner"
    ]
   },
   "AuthorizationPartner": {
    "type": "object",
    "properties": {
     "user_id": {
      "type": [
       "string",
       "null"
      ],
      "format": "uuid",
      "description": "Of an approval only"
     },
     "address": {
      "type": [
       "string",
       "null"
      ],
      "description": "The address, <provider slug>/<external id>, of an approval only"
     },
     "display_name": {
      "type": [
       "string",
       "null"
      ],
      "description": "The name from the provider, of an approval only, if members of streams.yaml is names"
     },
     "initials": {
      "type": [
       "string",
       "null"
      ]
     },
     "age": {
      "type": [
       "integer",
       "null"
      ]
     },
     "picture_url": {
      "type": [
       "string",
       "null"
      ],
      "format": "uri"
     },
     "assurance": {
      "type": "string",
      "enum": [
       "none",
       "phone",
       "barcode",
       "issuer_signed",
       "issuer_checked",
       "credential"
      ]
     },
     "push_endpoint": {
      "type": [
       "string",
       "null"
      ],
      "description": "The SNS endpoint that a device of the user registered last, of an approval only"
     }
    },
    "required": [
     "user_id",
     "address",
     "display_name",
     "initials",
     "age",
     "picture_url",
     "assurance",
     "push_endpoint"
    ]
   },
   "AuthorizationPage": {
    "type": "object",
    "properties": {
     "authorizations": {
      "type": "array",
      "items": {
       "$ref": "#/components/schemas/Authorization"
      }
     },
     "cursor": {
      "type": [
       "string",
       "null"
      ],
      "description": "The cursor of the next page, or null after the last one"
     }
    },
    "required": [
     "authorizations",
     "cursor"
    ]
   },
   "OAuthError": {
    "type": "object",
    "description": "A problem with the members of RFC 6749, section 5.2.",
    "properties": {
     "error": {
      "type": "string",
      "enum": [
       "invalid_request",
       "invalid_client",
       "invalid_grant",
       "invalid_token",
       "invalid_scope",
       "invalid_dpop_proof",
       "invalid_target",
       "insufficient_scope",
       "unsupported_grant_type",
       "temporarily_unavailable",
       "server_error"
      ]
     },
     "error_description": {
      "type": "string",
      "description": "The text of detail, under OAuth's name for it."
     },
     "type": {
      "type": "string"
     },
     "title": {
      "type": "string"
     },
     "status": {
      "type": "integer"
     },
     "code": {
      "type": "string",
      "enum": [
       "malformed_request",
       "payload_too_large",
       "unsupported_media_type",
       "session_required",
       "session_expired",
       "session_challenged",
       "session_destroyed",
       "session_not_attached",
       "provider_token_required",
       "provider_token_invalid",
       "insufficient_scope",
       "binding_mismatch",
       "certificate_revoked",
       "user_banned",
       "not_verified",
       "not_found",
       "conflict",
       "gone",
       "invalid_csr",
       "invalid_provider_key",
       "invalid_identity_token",
       "invalid_presence_proof",
       "invalid_dpop_proof",
       "verification_failed",
       "card_rejected",
       "presentation_rejected",
       "rate_limited",
       "unavailable",
       "internal_error",
       "method_not_allowed",
       "target_too_long",
       "header_fields_too_large",
       "transfer_coding_unknown"
      ]
     },
     "detail": {
      "type": "string",
      "description": "One sentence for the developer."
     },
     "request_id": {
      "type": "string",
      "description": "The request's id in the service's log."
     },
     "reason": {
      "type": "string",
      "description": "A reason that is more specific than the code. With unavailable: outcome_unknown (check whether the change was made) or store_moved (call another node)."
     },
     "state": {
      "type": "string",
      "description": "The state that forbids the call (conflict, gone)."
     },
     "required_level": {
      "type": "string",
      "description": "The level that the call needs (not_verified)."
     },
     "nonce": {
      "type": "string",
      "description": "A fresh nonce, which saves a call to POST /nonces."
     },
     "until": {
      "type": "string",
      "format": "date-time",
      "description": "When the ban expires"
     },
     "export_token": {
      "type": "string",
      "description": "Lets a banned user call GET /me/export and DELETE /me from this device for ten minutes"
     },
     "nonce_expires_at": {
      "type": "string",
      "format": "date-time"
     },
     "checks": {
      "type": "array",
      "items": {
       "$ref": "#/components/schemas/CardCheck"
      },
      "description": "card_rejected: every check"
     }
    },
    "required": [
     "error",
     "error_description",
     "type",
     "title",
     "status",
     "code",
     "detail",
     "request_id"
    ],
    "examples": [
     {
      "type": "https://auth.example/problems/invalid_identity_token#nonce_used",
      "title": "Unprocessable Content",
      "status": 422,
      "code": "invalid_identity_token",
      "detail": "The nonce in the token was used before. Get a new one and sign again.",
      "request_id": "c1",
      "reason": "nonce_used",
      "nonce": "AAABmT3cV0DQ1b7k9rTj0Q8mXz4Yc2uN6w",
      "nonce_expires_at": "2026-11-22T12:10:00Z"
     }
    ]
   },
   "AuthorizationServer": {
    "type": "object",
    "properties": {
     "issuer": {
      "type": "string",
      "format": "uri"
     },
     "token_endpoint": {
      "type": "string",
      "format": "uri"
     },
     "mtls_endpoint_aliases": {
      "type": "object",
      "properties": {
       "token_endpoint": {
        "type": "string",
        "format": "uri"
       }
      },
      "required": [
       "token_endpoint"
      ]
     },
     "introspection_endpoint": {
      "type": "string",
      "format": "uri"
     },
     "revocation_endpoint": {
      "type": "string",
      "format": "uri"
     },
     "jwks_uri": {
      "type": "string",
      "format": "uri"
     },
     "grant_types_supported": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "response_types_supported": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "scopes_supported": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "token_endpoint_auth_methods_supported": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "token_endpoint_auth_signing_alg_values_supported": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "introspection_endpoint_auth_methods_supported": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "introspection_endpoint_auth_signing_alg_values_supported": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "revocation_endpoint_auth_methods_supported": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "revocation_endpoint_auth_signing_alg_values_supported": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "tls_client_certificate_bound_access_tokens": {
      "type": "boolean"
     },
     "protected_resources": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "dpop_signing_alg_values_supported": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "introspection_signing_alg_values_supported": {
      "type": "array",
      "items": {
       "type": "string"
      }
     }
    },
    "required": [
     "issuer",
     "token_endpoint",
     "mtls_endpoint_aliases",
     "introspection_endpoint",
     "revocation_endpoint",
     "jwks_uri",
     "grant_types_supported",
     "response_types_supported",
     "scopes_supported",
     "token_endpoint_auth_methods_supported",
     "token_endpoint_auth_signing_alg_values_supported",
     "introspection_endpoint_auth_methods_supported",
     "introspection_endpoint_auth_signing_alg_values_supported",
     "revocation_endpoint_auth_methods_supported",
     "revocation_endpoint_auth_signing_alg_values_supported",
     "tls_client_certificate_bound_access_tokens",
     "protected_resources",
     "dpop_signing_alg_values_supported",
     "introspection_signing_alg_values_supported"
    ]
   },
   "ProtectedResource": {
    "type": "object",
    "properties": {
     "resource": {
      "type": "string",
      "format": "uri"
     },
     "authorization_servers": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "bearer_methods_supported": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "tls_client_certificate_bound_access_tokens": {
      "type": "boolean"
     }
    },
    "required": [
     "resource",
     "authorization_servers",
     "bearer_methods_supported",
     "tls_client_certificate_bound_access_tokens"
    ]
   },
   "GrantedSession": {
    "type": "object",
    "properties": {
     "access_token": {
      "type": "string"
     },
     "token_type": {
      "const": "Bearer"
     },
     "expires_in": {
      "type": "integer"
     },
     "session_id": {
      "type": "string",
      "format": "uuid"
     },
     "user_id": {
      "type": "string",
      "format": "uuid"
     },
     "address": {
      "type": "string"
     },
     "idle_ttl": {
      "type": "integer"
     },
     "assurance": {
      "type": "string",
      "enum": [
       "none",
       "phone",
       "barcode",
       "issuer_signed",
       "issuer_checked",
       "credential"
      ]
     },
     "cnf": {
      "type": "object",
      "properties": {
       "x5t#S256": {
        "type": "string"
       }
      },
      "required": [
       "x5t#S256"
      ]
     }
    },
    "required": [
     "access_token",
     "token_type",
     "expires_in",
     "session_id",
     "user_id",
     "address",
     "idle_ttl",
     "assurance",
     "cnf"
    ]
   },
   "ExchangedToken": {
    "type": "object",
    "properties": {
     "access_token": {
      "type": "string"
     },
     "token_type": {
      "enum": [
       "Bearer",
       "DPoP"
      ]
     },
     "expires_in": {
      "type": "integer"
     },
     "issued_token_type": {
      "const": "urn:ietf:params:oauth:token-type:jwt"
     },
     "scope": {
      "const": "verified_claims"
     }
    },
    "required": [
     "access_token",
     "token_type",
     "expires_in",
     "issued_token_type"
    ]
   },
   "ProviderAccessToken": {
    "type": "object",
    "properties": {
     "access_token": {
      "type": "string"
     },
     "token_type": {
      "const": "Bearer"
     },
     "expires_in": {
      "type": "integer"
     },
     "scope": {
      "type": "string"
     }
    },
    "required": [
     "access_token",
     "token_type",
     "expires_in",
     "scope"
    ]
   },
   "VerifiedClaims": {
    "type": "object",
    "description": "What a card or a wallet proved (OpenID Connect for Identity Assurance 1.0, section 5). Never a name, a number or an address.",
    "properties": {
     "verification": {
      "type": "object",
      "properties": {
       "trust_framework": {
        "const": "countersign"
       },
       "assurance_level": {
        "enum": [
         "none",
         "phone",
         "barcode",
         "issuer_signed",
         "issuer_checked",
         "credential"
        ]
       },
       "time": {
        "type": "string",
        "format": "date-time"
       },
       "evidence": {
        "type": "array",
        "items": {
         "type": "object",
         "properties": {
          "type": {
           "enum": [
            "document",
            "electronic_record"
           ]
          }
         },
         "required": [
          "type"
         ]
        }
       }
      },
      "required": [
       "trust_framework",
       "assurance_level",
       "time",
       "evidence"
      ]
     },
     "claims": {
      "type": "object",
      "properties": {
       "age_over_18": {
        "type": "boolean"
       },
       "age_over_21": {
        "type": "boolean"
       }
      }
     }
    },
    "required": [
     "verification",
     "claims"
    ]
   },
   "EventStream": {
    "type": "object",
    "properties": {
     "stream_id": {
      "type": "string"
     },
     "iss": {
      "type": "string"
     },
     "aud": {
      "type": "string"
     },
     "events_supported": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "events_requested": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "events_delivered": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "delivery": {
      "type": "object",
      "properties": {
       "method": {
        "type": "string"
       },
       "endpoint_url": {
        "type": "string"
       }
      },
      "required": [
       "method",
       "endpoint_url"
      ]
     },
     "min_verification_interval": {
      "type": "integer"
     },
     "inactivity_timeout": {
      "type": "integer",
      "description": "Seconds, absent if there is no limit"
     },
     "description": {
      "type": "string"
     },
     "signing_alg": {
      "type": "string",
      "enum": [
       "RS256",
       "ES256"
      ]
     },
     "subject_format": {
      "type": "string",
      "enum": [
       "iss_sub",
       "complex"
      ]
     },
     "events_unsupported": {
      "type": "array",
      "items": {
       "type": "string"
      },
      "description": "The requested events that this service never sends. Absent without any"
     }
    },
    "required": [
     "stream_id",
     "iss",
     "aud",
     "events_supported",
     "events_delivered",
     "delivery",
     "min_verification_interval",
     "signing_alg",
     "subject_format"
    ]
   },
   "EventStreamRequest": {
    "type": "object",
    "properties": {
     "delivery": {
      "type": "object",
      "properties": {
       "method": {
        "type": "string",
        "enum": [
         "urn:ietf:rfc:8935",
         "urn:ietf:rfc:8936"
        ]
       },
       "endpoint_url": {
        "type": "string"
       },
       "authorization_header": {
        "type": [
         "string",
         "null"
        ]
       }
      },
      "required": [
       "method"
      ],
      "additionalProperties": true
     },
     "events_requested": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "description": {
      "type": "string"
     },
     "signing_alg": {
      "type": "string",
      "enum": [
       "RS256",
       "ES256"
      ]
     },
     "subject_format": {
      "type": "string",
      "enum": [
       "iss_sub",
       "complex"
      ]
     }
    },
    "additionalProperties": true
   },
   "EventStreamChange": {
    "type": "object",
    "properties": {
     "stream_id": {
      "type": "string"
     },
     "delivery": {
      "type": "object",
      "properties": {
       "method": {
        "type": "string",
        "enum": [
         "urn:ietf:rfc:8935",
         "urn:ietf:rfc:8936"
        ]
       },
       "endpoint_url": {
        "type": "string"
       },
       "authorization_header": {
        "type": [
         "string",
         "null"
        ]
       }
      },
      "required": [
       "method"
      ],
      "additionalProperties": true
     },
     "events_requested": {
      "type": "array",
      "items": {
       "type": "string"
      }
     },
     "description": {
      "type": "string"
     },
     "signing_alg": {
      "type": "string",
      "enum": [
       "RS256",
       "ES256"
      ]
     },
     "subject_format": {
      "type": "string",
      "enum": [
       "iss_sub",
       "complex"
      ]
     }
    },
    "required": [
     "stream_id"
    ],
    "additionalProperties": true
   },
   "EventStreamStatus": {
    "type": "object",
    "properties": {
     "stream_id": {
      "type": "string"
     },
     "status": {
      "type": "string",
      "enum": [
       "enabled",
       "paused",
       "disabled"
      ]
     },
     "reason": {
      "type": "string"
     }
    },
    "required": [
     "stream_id",
     "status"
    ]
   },
   "StreamEvent": {
    "type": "object",
    "properties": {
     "sequence": {
      "type": "integer",
      "minimum": 1
     },
     "id": {
      "type": "string",
      "format": "uuid"
     },
     "sender": {
      "type": [
       "string",
       "null"
      ],
      "format": "uuid",
      "description": "null after the sender's erasure"
     },
     "sent_at": {
      "type": "string",
      "format": "date-time"
     },
     "in_reply_to": {
      "type": [
       "string",
       "null"
      ],
      "format": "uuid"
     },
     "thread": {
      "type": [
       "string",
       "null"
      ],
      "format": "uuid",
      "description": "The first message of the thread, or null if the message is not a reply. So it is null in that first message"
     },
     "deleted": {
      "type": "boolean",
      "description": "Deleted for all members, or by the user for the user only"
     },
     "expired": {
      "type": "boolean",
      "description": "Whether the body was deleted because the devices have it, or did not fetch it in time. No user deleted the message."
     },
     "parts": {
      "type": [
       "array",
       "null"
      ],
      "items": {
       "type": "object",
       "properties": {
        "type": {
         "type": "string",
         "description": "A media type without parameters"
        },
        "body": {
         "type": "string"
        },
        "body_base64": {
         "type": "string",
         "description": "base64url without padding"
        }
       },
       "required": [
        "type"
       ]
      },
      "description": "null after the message was deleted, and in a list if it is longer than 4,096 bytes"
     },
     "metadata": {
      "type": "object",
      "description": "Metadata that all members see. Missing if there are none, and in a list of streams"
     },
     "private_metadata": {
      "type": "object",
      "description": "Metadata that only the user sees. Missing if there are none, and in a list of streams"
     }
    },
    "required": [
     "sequence",
     "id",
     "sender",
     "sent_at",
     "in_reply_to",
     "thread",
     "deleted",
     "expired",
     "parts"
    ]
   },
   "EventMetadata": {
    "type": "object",
    "properties": {
     "sequence": {
      "type": "integer",
      "minimum": 1
     },
     "metadata": {
      "type": "object"
     },
     "private_metadata": {
      "type": "object"
     }
    },
    "required": [
     "sequence",
     "metadata",
     "private_metadata"
    ]
   },
   "PublicProfile": {
    "type": "object",
    "description": "What a user shows to other users of the provider",
    "properties": {
     "user_id": {
      "type": "string",
      "format": "uuid"
     },
     "address": {
      "type": "string",
      "description": "The address, <provider slug>/<external id>"
     },
     "display_name": {
      "type": [
       "string",
       "null"
      ],
      "description": "The name from the provider, from the level phone and if members of streams.yaml is names"
     },
     "initials": {
      "type": [
       "string",
       "null"
      ],
      "description": "Of the name on the card, under the same conditions"
     },
     "picture_url": {
      "type": [
       "string",
       "null"
      ],
      "format": "uri",
      "description": "The picture from the provider, under the same conditions"
     }
    },
    "required": [
     "user_id",
     "address",
     "display_name",
     "initials",
     "picture_url"
    ]
   },
   "StreamMember": {
    "type": "object",
    "properties": {
     "user_id": {
      "type": "string",
      "format": "uuid"
     },
     "address": {
      "type": [
       "string",
       "null"
      ],
      "description": "The address, <provider slug>/<external id>, or null in a closed stream"
     },
     "display_name": {
      "type": [
       "string",
       "null"
      ],
      "description": "The name from the provider, from the level phone and if members of streams.yaml is names"
     },
     "initials": {
      "type": [
       "string",
       "null"
      ],
      "description": "Of the name on the card, under the same conditions"
     },
     "picture_url": {
      "type": [
       "string",
       "null"
      ],
      "format": "uri",
      "description": "The picture from the provider, under the same conditions"
     },
     "assurance": {
      "type": "string",
      "enum": [
       "none",
       "phone",
       "barcode",
       "issuer_signed",
       "issuer_checked",
       "credential"
      ]
     },
     "delivered_through": {
      "type": "integer",
      "minimum": 0
     },
     "read_through": {
      "type": "integer",
      "minimum": 0
     }
    },
    "required": [
     "user_id",
     "address",
     "display_name",
     "initials",
     "picture_url",
     "assurance",
     "delivered_through",
     "read_through"
    ]
   },
   "MessageStream": {
    "type": "object",
    "properties": {
     "id": {
      "type": "string",
      "format": "uuid"
     },
     "kind": {
      "type": "string",
      "enum": [
       "direct",
       "conversation",
       "forum",
       "call"
      ]
     },
     "state": {
      "type": "string",
      "enum": [
       "open",
       "closed",
       "left"
      ],
      "description": "closed: the direct stream is no longer permitted. left: the user was removed"
     },
     "created_by": {
      "type": [
       "string",
       "null"
      ],
      "format": "uuid"
     },
     "created_at": {
      "type": "string",
      "format": "date-time"
     },
     "title": {
      "type": [
       "string",
       "null"
      ]
     },
     "description": {
      "type": [
       "string",
       "null"
      ]
     },
     "image_url": {
      "type": [
       "string",
       "null"
      ]
     },
     "last_sequence": {
      "type": "integer",
      "minimum": 0
     },
     "unread": {
      "type": [
       "integer",
       "null"
      ],
      "description": "Messages after read_through, also deleted and expired ones. null for a forum"
     },
     "last_event": {
      "oneOf": [
       {
        "$ref": "#/components/schemas/StreamEvent"
       },
       {
        "type": "null"
       }
      ],
      "description": "The last message. Its parts are null if it takes more than 4,096 bytes, and it has no metadata"
     },
     "members": {
      "type": "array",
      "maxItems": 25,
      "items": {
       "$ref": "#/components/schemas/StreamMember"
      }
     },
     "message_storage": {
      "type": "string",
      "enum": [
       "keep",
       "until_delivered"
      ],
      "description": "How long later messages of the stream are stored. One member decides for all. A forum always has keep."
     },
     "profiles": {
      "type": "array",
      "maxItems": 2,
      "description": "The creator and the sender of last_event, if they are not among the members. A removed user sees no names of them",
      "items": {
       "$ref": "#/components/schemas/PublicProfile"
      }
     },
     "metadata": {
      "type": "object"
     },
     "private_metadata": {
      "type": "object"
     }
    },
    "required": [
     "id",
     "kind",
     "state",
     "created_by",
     "created_at",
     "title",
     "description",
     "image_url",
     "last_sequence",
     "unread",
     "last_event",
     "members",
     "message_storage",
     "profiles"
    ]
   },
   "UserNotification": {
    "type": "object",
    "properties": {
     "id": {
      "type": "string",
      "format": "uuid"
     },
     "title": {
      "type": [
       "string",
       "null"
      ]
     },
     "body": {
      "type": [
       "string",
       "null"
      ]
     },
     "data": {
      "type": "object",
      "additionalProperties": {
       "type": "string"
      }
     },
     "sent_at": {
      "type": "string",
      "format": "date-time"
     }
    },
    "required": [
     "id",
     "title",
     "body",
     "data",
     "sent_at"
    ]
   },
   "UserPresence": {
    "type": "object",
    "description": "A user that the caller may not see looks like a user who was never online",
    "properties": {
     "user_id": {
      "type": "string",
      "format": "uuid"
     },
     "online": {
      "type": "boolean",
      "description": "Whether a device of the user waits for changes"
     },
     "last_seen": {
      "type": [
       "string",
       "null"
      ],
      "format": "date-time",
      "description": "When the user was last online, to the minute; null while the user is online, and if it is not known"
     }
    },
    "required": [
     "user_id",
     "online",
     "last_seen"
    ]
   },
   "Attestation": {
    "description": "A proof of where the key is. The text whose SHA-256 the device attests is countersign-attest-v1, the challenge, and the base64url of the SHA-256 of the request's SubjectPublicKeyInfo (android_key: the wished device id), with a line feed between them.",
    "oneOf": [
     {
      "type": "object",
      "properties": {
       "kind": {
        "const": "app_attest"
       },
       "challenge": {
        "type": "string"
       },
       "key_id": {
        "type": "string",
        "contentEncoding": "base64"
       },
       "object": {
        "type": "string",
        "contentEncoding": "base64",
        "description": "What attestKey returned"
       },
       "assertion": {
        "type": "string",
        "contentEncoding": "base64",
        "description": "At a renewal in place of object: what generateAssertion returned"
       }
      },
      "required": [
       "kind",
       "challenge",
       "key_id"
      ]
     },
     {
      "type": "object",
      "properties": {
       "kind": {
        "const": "android_key"
       },
       "challenge": {
        "type": "string"
       },
       "chain": {
        "type": "array",
        "items": {
         "type": "string",
         "contentEncoding": "base64"
        },
        "minItems": 2,
        "maxItems": 10,
        "description": "Certificates in DER, that of the key first"
       }
      },
      "required": [
       "kind",
       "challenge",
       "chain"
      ]
     }
    ]
   }
  }
 }
}

"""##
}
